import type { ModalView } from '@slack/types';
import { z } from 'zod';
import { type ApprovalAnswer, answerApproval, readApproval } from '../../app/approvals/answer-approval.ts';
import { withdrawApproval } from '../../app/approvals/withdraw-approval.ts';
import type { Approval } from '../../domain/approval.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { section, textMessage } from '../kit/blocks.ts';
import { defineForm, loadingView, noticeView } from '../kit/form.ts';
import { defineModal } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import type { SlackRequest } from '../transport/request.ts';
import { answeredWords, approvalWords, describeWanted } from './approval-words.ts';
import { approvalButton, approvalId, withdrawApprovalButton } from './buttons.ts';

const DENY_TITLE = 'Deny with reason';

const denyModal = defineModal(
  'deny_approval',
  approvalId,
  z.object({ reason: z.string().trim().max(300).exactOptional() }),
);

/** The form in which a request is denied, with a reason for the requester. */
export function denyApprovalView(approval: Approval, origin: Origin, currency: string): ModalView {
  return denyModal.view({
    origin,
    metadata: { id: approval.id },
    title: DENY_TITLE,
    submit: 'Deny',
    blocks: [
      section(describeWanted(approval, currency)),
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

const denyForm = defineForm({
  id: 'deny_approval',
  title: DENY_TITLE,
  input: approvalId,
  needs: readApproval,
  load: async (input, request, origin) =>
    denyApprovalView(await request.execute(readApproval, input), origin, request.currency),
});

/** The answers of a second user and the requester's withdrawal, on cards and in `/vps status`. */
export const approvalActions = [
  approvalButton.approve.on(({ id }, request) => answer(id, { kind: 'approve' }, request)),
  approvalButton.deny.on(({ id }, request) => answer(id, { kind: 'deny' }, request)),
  approvalButton.denyWithReason.on((input, request) => denyForm.open(input, request)),
  denyForm.handler,
  withdrawApprovalButton.on(async ({ id }, request) => {
    const withdrawn = await request.execute(withdrawApproval, { id });
    await request.reply.replace(textMessage(approvalWords(withdrawn, request.currency)));
  }),
];

export const approvalModals = [
  denyModal.onSubmit(answerApproval, async ({ fields, metadata, viewId }, request) => ({
    with: loadingView(DENY_TITLE, 'Saving your answer…'),
    after: async () => {
      const answer: ApprovalAnswer = { kind: 'deny', reason: fields.reason };
      const denied = await request.execute(answerApproval, { id: metadata.id, answer });
      await request.views.update(viewId, noticeView(DENY_TITLE, answeredWords(denied)));
    },
  })),
];

const CHECKING = 'Checking that nothing has changed…';

/** Money effect: what is approved is paid or deleted once, however many users press. */
async function answer(id: ConfirmationId, given: ApprovalAnswer, request: SlackRequest): Promise<void> {
  const answering = request.execute(answerApproval, { id, answer: given });
  if ((await request.withTimeout(answering)) === undefined) await request.reply.send(textMessage(CHECKING));
  await request.reply.send(textMessage(answeredWords(await answering)));
}
