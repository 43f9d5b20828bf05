import type { Button, KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import { durationField, forMsOf, roleOption, serversField, WRONG_PATTERN } from '../access/grant-form.ts';
import { describeNewRole, describeRequest, describeWantedRole } from '../access/words.ts';
import type { Refusal } from '../core/errors.ts';
import type { ConfirmationId, UserId } from '../core/ids.ts';
import { EVERY_SERVER, findPattern } from '../core/labels.ts';
import { ROLES, roleCovers } from '../core/roles.ts';
import { HOUR_MS } from '../core/time.ts';
import { actions, confirmation, context, type Message, section, textMessage } from '../slack/kit/blocks.ts';
import { defineButton } from '../slack/kit/button.ts';
import { defineForm, loadingView, noticeView, type Origin } from '../slack/kit/form.ts';
import { defineModal } from '../slack/kit/modal.ts';
import { codeLabel, mention, plainLabel, slackDate } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { isOnCard, type RequestScreen, withGuest } from './notify.ts';
import type { RoleRequest } from './request.ts';
import {
  type AccessAnswer,
  answerRoleRequest,
  checkWantedRole,
  findGrantedCommand,
  readRoleRequest,
  requestAccess,
  withdrawRoleRequest,
} from './role-request.ts';

/** A role to request, for all servers or the one with this label (an empty one would name all of them), and the command that needs it. */
const wantedRole = z.object({
  role: z.enum(ROLES),
  label: z.string().min(1).exactOptional(),
  command: z.string().exactOptional(),
});

export const requestAccessButton = defineButton('access_ask', wantedRole);
const accessRequestId = z.object({ id: z.string() });
const workdayButton = defineButton('access_workday', accessRequestId);
const permanentButton = defineButton('access_permanent', accessRequestId);
const denyButton = defineButton('access_deny', accessRequestId);
/** Opens the form that approves a request for less than was asked, or for another time. */
const adjustButton = defineButton('access_adjust', accessRequestId);
export const withdrawAccessButton = defineButton('access_withdraw', accessRequestId);
/** Runs the command for which the requester needed the role. */
const continueButton = defineButton('access_continue', accessRequestId);

/** The answers that an owner can give to a request. Only on a card of its own is one primary. */
export function answerButtons(id: ConfirmationId, style: { readonly style?: 'primary' } = {}): KnownBlock {
  return actions(
    workdayButton.element('Approve for 8 h', { id }, style),
    permanentButton.element('Approve permanently', { id }),
    adjustButton.element('Approve with changes…', { id }),
    denyButton.element('Deny', { id }),
  );
}

/** What an owner sees: who requests what and why, with the answers, later replaced by the outcome. */
export function requestCard(request: RoleRequest): Message {
  const words = describeRequest(request);
  if (request.state !== 'open') return textMessage(words, section(describeAnswer(request)));
  const note = `Requested ${slackDate(request.requestedAt)}. The first owner to answer decides.`;
  return textMessage(words, answerButtons(request.id, { style: 'primary' }), context(note));
}

/** What has become of a request, for the owners. */
export function describeAnswer(request: RoleRequest): string {
  const { state, decidedBy = '' } = request;
  switch (state) {
    case 'open':
      return '';
    case 'approved':
      return `*Approved* by ${mention(decidedBy)}: ${mention(request.requesterId)} is now ${describeNewRole(request.granted ?? request)}.`;
    case 'denied':
      return `*Denied* by ${mention(decidedBy)}: ${mention(request.requesterId)} wasn’t given the ${describeWantedRole(request)}.`;
    case 'withdrawn':
      return `*Withdrawn* by ${mention(request.requesterId)}.`;
    case 'expired':
      return '*Expired*: no owner answered within a week.';
  }
}

export function answerMessage(request: RoleRequest): Message {
  const { state, decidedBy } = request;
  const wanted = describeWantedRole(request);
  if (state === 'expired') {
    return textMessage(
      `No owner answered your request for the ${wanted} within a week, so it expired. You can request it again.`,
    );
  }
  const by = mention(decidedBy ?? '');
  if (state === 'denied') return textMessage(`${by} denied your request for the ${wanted}.`);
  const { granted = request } = request;
  const isLess = granted.role !== request.role || granted.pattern !== request.pattern;
  const instead = isLess ? ` You requested the ${wanted}.` : '';
  return textMessage(`${by} made you ${describeNewRole(granted)}.${instead}`, ...nextStep(request));
}

/** Continues with the command for which the role was requested. It is run only if the user confirms that. */
function nextStep({ id, command }: RoleRequest): KnownBlock[] {
  if (command === undefined) return [];
  const typed = plainLabel(`/vps ${command}`, 200);
  const confirm = confirmation({ title: 'Run this command?', text: typed, confirm: 'Run' });
  return [actions(continueButton.element(`Run ${typed}`, { id }, { style: 'primary', confirm }))];
}

/** What the requester reads right after the request, with the button that withdraws it. */
export function requestedMessage(request: RoleRequest, owners: readonly UserId[]): Message {
  const { id, state, cards } = request;
  const wanted = describeWantedRole(request);
  if (state !== 'open') return textMessage(`Your request for the ${wanted} has already been answered.`);
  const reached =
    cards.length < owners.length
      ? `${cards.length} of ${owners.length} owners`
      : owners.map(mention).join(', ');
  const sent =
    cards.length > 0
      ? `Request for the ${wanted} sent to ${reached}. We’ll let you know.`
      : `Your request for the ${wanted} is saved. We haven’t been able to message the owners yet, but we’ll keep trying. You can also ask an owner yourself: they’ll find it in \`/vps access\`.`;
  return textMessage(sent, actions(withdrawAccessButton.element('Withdraw request', { id })));
}

export function withdrawnMessage(requests: readonly RoleRequest[]): Message {
  const what = requests.map((request) => `the ${describeWantedRole(request)}`);
  const noun = requests.length === 1 ? 'request' : 'requests';
  return textMessage(`You withdrew your ${noun} for ${what.join(', ')}.`);
}

const APPROVE_TITLE = 'Approve with changes';

const approveModal = defineModal(
  'approve_access',
  accessRequestId,
  z.object({
    role: z.enum(ROLES, 'Choose a role'),
    pattern: z.string().exactOptional(),
    time: z.string('Choose a duration'),
  }),
);

/** The form in which less than was requested is approved: a lower role, fewer servers, a time. */
export function approveView(request: RoleRequest, origin: Origin): ModalView {
  const { id, role, pattern } = request;
  return approveModal.view({
    origin,
    metadata: { id },
    title: APPROVE_TITLE,
    submit: 'Approve',
    blocks: [
      section(describeRequest(request)),
      approveModal.selectField('role', {
        label: 'Role',
        placeholder: 'Choose a role',
        options: ROLES.filter((each) => roleCovers(role, each)).map(roleOption),
        initial: role,
      }),
      // A request for one server can't be narrowed further.
      ...(pattern === EVERY_SERVER ? [serversField(approveModal)] : []),
      durationField(approveModal, '8'),
    ],
  });
}

const approveForm = defineForm({
  id: 'approve_access',
  title: APPROVE_TITLE,
  input: accessRequestId,
  needs: readRoleRequest,
  load: async (input, request, origin) => approveView(await request.execute(readRoleRequest, input), origin),
});

const approveHandler = approveModal.onSubmit(
  answerRoleRequest,
  async ({ fields, metadata, viewId }, request) => {
    const { role, time } = fields;
    const pattern = fields.pattern === undefined ? EVERY_SERVER : findPattern(fields.pattern);
    if (pattern === undefined) return { with: { errors: { pattern: WRONG_PATTERN } } };
    const narrower = pattern === EVERY_SERVER ? {} : { pattern };
    const answer = { kind: 'approve' as const, role, forMs: forMsOf(time), ...narrower };
    return {
      with: loadingView(APPROVE_TITLE, 'Saving your answer…'),
      after: async () => {
        const answered = await request.execute(answerRoleRequest, { id: metadata.id, answer });
        await request.views.update(viewId, noticeView('Role granted', describeAnswer(answered)));
      },
    };
  },
);

async function press(id: ConfirmationId, answer: AccessAnswer, request: SlackRequest): Promise<void> {
  const answered = await request.execute(answerRoleRequest, { id, answer });
  const isShown = isOnCard(answered, request) && (await request.reply.edit(requestCard(answered)));
  if (!isShown) await request.reply.send(textMessage(describeAnswer(answered)));
}

export const roleScreen: RequestScreen<RoleRequest> = {
  card: async (request, { users }) => requestCard(await withGuest(request, users)),
  notifyRequester: async (request, requester, { outbox }) => {
    const { state, workspaceId, requesterId } = request;
    // The requester did that, and has seen it.
    if (state === 'withdrawn') return true;
    const message = answerMessage(request);
    // After a week the requester is elsewhere: an ephemeral message reaches only users who look at the channel.
    return state === 'expired'
      ? outbox.sendDirectly(workspaceId, requesterId, message)
      : outbox.notifyConfirmer(requester, message);
  },
};

const ASK_TITLE = 'Ask for access';
type WantedRole = z.output<typeof wantedRole>;

const reasonForm = defineModal(
  'ask_access',
  wantedRole,
  z.object({
    role: z.enum(ROLES, 'Choose a role').exactOptional(),
    reason: z.string('Tell the owners why you need it').trim().min(1).max(300),
  }),
);

/** Requests a role that the user does not hold: one press and a reason. */
export const requestAccessForm = defineForm({
  id: 'ask',
  title: ASK_TITLE,
  input: wantedRole,
  needs: requestAccess,
  load: async (input, _request, origin) => {
    checkWantedRole(input);
    return requestAccessView(input, origin);
  },
});

/** Asks for the reason. The role that is enough is chosen already; an owner's role has to be asked for by name. */
export function requestAccessView(input: WantedRole, origin: Origin) {
  const { role, label } = input;
  const servers = label === undefined ? 'all servers' : codeLabel(label, 60);
  return reasonForm.view({
    origin,
    metadata: input,
    title: ASK_TITLE,
    submit: 'Send request',
    blocks: [
      section(`This asks for a role on ${servers}. An owner decides whether to grant it, and for how long.`),
      reasonForm.selectField('role', {
        label: 'Role',
        placeholder: 'Choose a role',
        options: ROLES.filter((each) => each === role || each !== 'owner').map(roleOption),
        initial: role,
      }),
      reasonForm.textField('reason', { label: 'Why do you need it?', multiline: true, maxLength: 300 }),
    ],
  });
}

export type RunTyped = (text: string, request: SlackRequest) => Promise<void>;

/** What is pressed and sent about requests for a role. `runTyped` runs the command for which a role was granted. */
export function roleRequestHandlers(runTyped: RunTyped) {
  return {
    actions: [
      requestAccessForm.handler,
      requestAccessButton.on((input, request) => requestAccessForm.open(input, request)),
      withdrawAccessButton.on(async ({ id }, request) => {
        await request.reply.replace(withdrawnMessage(await request.execute(withdrawRoleRequest, { id })));
      }),
      workdayButton.on(({ id }, request) => press(id, { kind: 'approve', forMs: 8 * HOUR_MS }, request)),
      permanentButton.on(({ id }, request) => press(id, { kind: 'approve' }, request)),
      denyButton.on(({ id }, request) => press(id, { kind: 'deny' }, request)),
      adjustButton.on((input, request) => approveForm.open(input, request)),
      approveForm.handler,
      // Slack has asked the user before it sends the press. The command then checks their permission and asks what it always asks,
      // such as **Create and pay** or the label of a server to delete.
      continueButton.on(async ({ id }, request) => {
        await runTyped(await request.execute(findGrantedCommand, { id }), request);
      }),
    ],
    modals: [
      reasonForm.onSubmit(requestAccess, async ({ fields, metadata, origin }, request) => ({
        // The form closes: a message that stays says what was sent and can be withdrawn.
        after: async () => {
          const wanted = { id: origin.formId, ...metadata, ...fields };
          const requested = await request.execute(requestAccess, wanted);
          await request.reply.send(requestedMessage(requested.request, requested.owners));
        },
      })),
      approveHandler,
    ],
  };
}

/** A button's value holds 2,000 characters, escapes included. */
const LABEL_MOST = 300;
const COMMAND_MOST = 200;

/**
 * Without the role, a user can request it with one press, and continue with the command they typed once it is granted. The owner
 * role isn't offered: that is a matter between people.
 */
export function accessSteps({ details }: Refusal<'role_needed'>, typed: string | undefined): Button[] {
  const { needed: role, label } = details;
  if (role === 'owner') return [];
  // Without a label it would be a request for every server.
  if (label !== undefined && (label === '' || label.length > LABEL_MOST)) return [];
  const command = typed !== undefined && typed.length <= COMMAND_MOST ? typed.trim() : undefined;
  return [requestAccessButton.element('Ask for access', { role, label, command })];
}
