import type { KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import {
  accessAnswerButton,
  accessRequestId,
  adjustButton,
  continueButton,
  denyAccessButton,
  withdrawAccessButton,
} from '../access/buttons.ts';
import { durationField, forMsOf, roleOption, serversField, WRONG_PATTERN } from '../access/grant-form.ts';
import { describeNewRole, describeRequest, describeWantedRole, quote } from '../access/words.ts';
import type { ConfirmationId, UserId } from '../core/ids.ts';
import { EVERY_SERVER, findPattern } from '../core/labels.ts';
import { ROLES, roleCovers } from '../core/roles.ts';
import { HOUR_MS } from '../core/time.ts';
import { actions, confirmation, context, type Message, section, textMessage } from '../slack/kit/blocks.ts';
import { defineForm, loadingView, noticeView, type Origin } from '../slack/kit/form.ts';
import { defineModal, type SubmitAnswer } from '../slack/kit/modal.ts';
import { mention, plainLabel, slackDate } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { createCardNotifier, type NotifierParts } from './card-notifier.ts';
import type { DecisionNotifier } from './decision.ts';
import {
  type AccessAnswer,
  type AccessRequest,
  answerAccessRequest,
  readAccessRequest,
} from './role-request.ts';

/** The answers that an owner can give to a request: a row that grants something, and a row that doesn't. */
export function answerRows(id: ConfirmationId): KnownBlock[] {
  const { hour, workday, permanent, deny } = accessAnswerButton;
  return [
    actions(
      hour.element('Approve for 1 h', { id }, { style: 'primary' }),
      workday.element('Approve for 8 h', { id }),
      permanent.element('Approve permanently', { id }),
      adjustButton.element('Approve with changes…', { id }),
    ),
    actions(
      deny.element('Deny', { id }, { style: 'danger' }),
      denyAccessButton.element('Deny with reason…', { id }),
    ),
  ];
}

/** What an owner sees: who requests what and why, with the answers, later replaced by the outcome. */
export function requestCard(request: AccessRequest): Message {
  const words = describeRequest(request);
  if (request.state !== 'open') return textMessage(words, section(describeAnswer(request)));
  const note = `Requested ${slackDate(request.requestedAt)}. The first owner to answer decides.`;
  return textMessage(words, ...answerRows(request.id), context(note));
}

function describeAnswer(request: AccessRequest): string {
  const { state, decidedBy = '', denialReason } = request;
  switch (state) {
    case 'open':
      return '';
    case 'approved':
      return `*Approved* by ${mention(decidedBy)}: ${mention(request.requesterId)} is now ${describeNewRole(grantedOf(request))}.`;
    case 'denied':
      return `*Denied* by ${mention(decidedBy)}.${denialReason === undefined ? '' : `\n${quote(denialReason)}`}`;
    case 'withdrawn':
      return `*Withdrawn* by ${mention(request.requesterId)}.`;
    case 'replaced':
      return `*Replaced*: ${mention(request.requesterId)} has sent a newer request.`;
    case 'expired':
      return '*Expired*: no owner answered within a week.';
  }
}

/** What was granted; the first release stored it only where it was what was requested. */
function grantedOf({ role, pattern, granted = { role, pattern }, until }: AccessRequest) {
  return { ...granted, until };
}

/** What the requester reads when it was decided or has expired. */
export function answerMessage(request: AccessRequest): Message {
  const { state, decidedBy, denialReason } = request;
  const wanted = describeWantedRole(request);
  if (state === 'expired') {
    return textMessage(
      `No owner answered your request for the ${wanted} within a week, so it expired. You can request it again.`,
    );
  }
  const by = mention(decidedBy ?? '');
  if (state === 'denied') {
    const reason = denialReason === undefined ? '' : `\n${quote(denialReason)}`;
    return textMessage(`${by} declined your request for the ${wanted}.${reason}`);
  }
  const granted = grantedOf(request);
  const isLess = granted.role !== request.role || granted.pattern !== request.pattern;
  const instead = isLess ? ` You requested the ${wanted}.` : '';
  return textMessage(`${by} made you ${describeNewRole(granted)}.${instead}`, ...nextStep(request));
}

/** Goes on with the command for which the role was requested. It is run only when this is confirmed. */
function nextStep({ id, command }: AccessRequest): KnownBlock[] {
  if (command === undefined) return [];
  const typed = plainLabel(`/vps ${command}`, 200);
  const confirm = confirmation({ title: 'Run this command?', text: typed, confirm: 'Run' });
  return [actions(continueButton.element(`Run ${typed}`, { id }, { style: 'primary', confirm }))];
}

/** What the requester reads right after the request, with the button that withdraws it. */
export function requestedMessage(request: AccessRequest, owners: readonly UserId[]): Message {
  const { id, state, cards } = request;
  const wanted = describeWantedRole(request);
  if (state !== 'open') return textMessage(`Your request for the ${wanted} has already been answered.`);
  const sent =
    cards.length > 0
      ? `Request for the ${wanted} sent to ${owners.map(mention).join(', ')}. We’ll let you know.`
      : `Your request for the ${wanted} is saved, but we couldn’t message an owner yet. We’ll keep trying for a day. You can also ask an owner yourself: they’ll find it in \`/vps access\`.`;
  return textMessage(sent, actions(withdrawAccessButton.element('Withdraw request', { id })));
}

/** What the requester reads when they have withdrawn their requests. */
export function withdrawnMessage(requests: readonly AccessRequest[]): Message {
  const what = requests.map((request) => `the ${describeWantedRole(request)}`);
  const noun = requests.length === 1 ? 'request' : 'requests';
  return textMessage(`You withdrew your ${noun} for ${what.join(', ')}.`);
}

/** Confirms to the owner what they answered. */
export function answeredWords(request: AccessRequest): string {
  const { requesterId, isNotified, state } = request;
  const who = mention(requesterId);
  const told = isNotified ? '' : ` We couldn’t message ${who} yet, and will keep trying for a day.`;
  if (state === 'denied') return `Denied: ${who} doesn’t get the ${describeWantedRole(request)}.${told}`;
  return `Approved: ${who} is now ${describeNewRole(grantedOf(request))}.${told}`;
}

const APPROVE_TITLE = 'Approve with changes';
const DENY_TITLE = 'Deny with reason';

const approveModal = defineModal(
  'approve_access',
  accessRequestId,
  z.object({
    role: z.enum(ROLES, 'Choose a role'),
    pattern: z.string().exactOptional(),
    time: z.string('Choose a duration'),
  }),
);

const denyModal = defineModal(
  'deny_access',
  accessRequestId,
  z.object({ reason: z.string().trim().max(300).exactOptional() }),
);

/** The form in which less than was requested is approved: a lower role, fewer servers, a time. */
export function approveView(request: AccessRequest, origin: Origin): ModalView {
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

/** The form in which a request is denied, with a reason for the requester. */
export function denyView(request: AccessRequest, origin: Origin): ModalView {
  return denyModal.view({
    origin,
    metadata: { id: request.id },
    title: DENY_TITLE,
    submit: 'Deny',
    blocks: [
      section(describeRequest(request)),
      denyModal.textField('reason', {
        label: 'Reason',
        hint: 'The requester will see this.',
        multiline: true,
        maxLength: 300,
        optional: true,
      }),
    ],
  });
}

const approveForm = defineForm({
  id: 'approve_access',
  title: APPROVE_TITLE,
  input: accessRequestId,
  needs: readAccessRequest,
  load: async (input, request, origin) =>
    approveView(await request.execute(readAccessRequest, input), origin),
});

const denyForm = defineForm({
  id: 'deny_access',
  title: DENY_TITLE,
  input: accessRequestId,
  needs: readAccessRequest,
  load: async (input, request, origin) => denyView(await request.execute(readAccessRequest, input), origin),
});

/** The answers that take one press, and how long each grants the role. */
const PRESSES: Readonly<Record<keyof typeof accessAnswerButton, AccessAnswer>> = {
  hour: { kind: 'approve', forMs: HOUR_MS },
  workday: { kind: 'approve', forMs: 8 * HOUR_MS },
  permanent: { kind: 'approve' },
  deny: { kind: 'deny' },
};

const { hour, workday, permanent, deny } = accessAnswerButton;

export const answerActions = [
  hour.on(({ id }, request) => press(id, PRESSES.hour, request)),
  workday.on(({ id }, request) => press(id, PRESSES.workday, request)),
  permanent.on(({ id }, request) => press(id, PRESSES.permanent, request)),
  deny.on(({ id }, request) => press(id, PRESSES.deny, request)),
  adjustButton.on((input, request) => approveForm.open(input, request)),
  approveForm.handler,
  denyAccessButton.on((input, request) => denyForm.open(input, request)),
  denyForm.handler,
];

export const answerModals = [
  approveModal.onSubmit(answerAccessRequest, async ({ fields, metadata, viewId }, request) => {
    const { role, time } = fields;
    const pattern = fields.pattern === undefined ? EVERY_SERVER : findPattern(fields.pattern);
    if (pattern === undefined) return { with: { errors: { pattern: WRONG_PATTERN } } };
    const answer: AccessAnswer = { kind: 'approve', role, forMs: forMsOf(time) };
    const narrower = pattern === EVERY_SERVER ? answer : { ...answer, pattern };
    return submit(metadata.id, narrower, { title: APPROVE_TITLE, viewId }, request);
  }),
  denyModal.onSubmit(answerAccessRequest, async ({ fields, metadata, viewId }, request) => {
    const answer: AccessAnswer = { kind: 'deny', reason: fields.reason };
    return submit(metadata.id, answer, { title: DENY_TITLE, viewId }, request);
  }),
];

async function press(id: ConfirmationId, answer: AccessAnswer, request: SlackRequest): Promise<void> {
  const answered = await request.execute(answerAccessRequest, { id, answer });
  await request.reply.send(textMessage(answeredWords(answered)));
}

async function submit(
  id: ConfirmationId,
  answer: AccessAnswer,
  { title, viewId }: { readonly title: string; readonly viewId: string },
  request: SlackRequest,
): Promise<SubmitAnswer> {
  return {
    with: loadingView(title, 'Saving your answer…'),
    after: async () => {
      const answered = await request.execute(answerAccessRequest, { id, answer });
      await request.views.update(viewId, noticeView(title, answeredWords(answered)));
    },
  };
}

/** Cards and messages about access requests. */
export function createAccessNotifier(parts: NotifierParts): DecisionNotifier<AccessRequest> {
  const { outbox } = parts;
  return createCardNotifier<AccessRequest>(parts, {
    card: requestCard,
    notifyRequester: async (request, requester) => {
      const message = answerMessage(request);
      // After a week the requester is elsewhere: an ephemeral message reaches only users who look at the channel.
      const isAwaited = request.state !== 'expired';
      if (isAwaited && (await outbox.replyTo(requester).send(message))) return true;
      return outbox.sendDirectly(request.workspaceId, request.requesterId, message);
    },
  });
}
