import { answerApproval } from '../../app/approvals/answer-approval.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { textMessage } from '../kit/blocks.ts';
import type { SlackRequest } from '../transport/request.ts';
import { answeredWords } from './approval-words.ts';
import { approvalButton } from './buttons.ts';

/** The answers of a second user, on cards and in `/vps status`. */
export const approvalActions = [
  approvalButton.approve.on(({ approvalId }, request) => answer(approvalId, true, request)),
  approvalButton.deny.on(({ approvalId }, request) => answer(approvalId, false, request)),
];

const CHECKING = 'Looking once more whether it is still as it was asked for…';

/** Money effect: what is approved is paid or deleted once, however many users press. */
async function answer(approvalId: ConfirmationId, isApproved: boolean, request: SlackRequest): Promise<void> {
  const answering = request.execute(answerApproval, { approvalId, isApproved });
  if ((await request.withTimeout(answering)) === undefined) await request.reply.send(textMessage(CHECKING));
  await request.reply.send(textMessage(answeredWords(await answering)));
}
