import type { ModalView } from '@slack/types';
import { z } from 'zod';
import {
  type AccessAnswer,
  answerAccessRequest,
  readAccessRequest,
} from '../../app/access/answer-access-request.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import { ROLES, roleCovers } from '../../domain/actor.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { EVERY_SERVER, findPattern } from '../../domain/label-pattern.ts';
import { HOUR_MS } from '../../domain/time.ts';
import { section, textMessage } from '../kit/blocks.ts';
import { defineForm, loadingView, noticeView } from '../kit/form.ts';
import { defineModal, type SubmitAnswer } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import type { SlackRequest } from '../transport/request.ts';
import { answeredWords } from './access-request-card.ts';
import { describeRequest } from './access-words.ts';
import { accessAnswerButton, accessRequestId, adjustButton, denyAccessButton } from './buttons.ts';
import { durationField, forMsOf, roleOption, serversField, WRONG_PATTERN } from './grant-form.ts';

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
