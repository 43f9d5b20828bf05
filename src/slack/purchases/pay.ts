import { type Confirmation, type Confirmed, confirmPurchase } from '../../app/purchases/confirm-purchase.ts';
import { requestedBeforeWords, waitingWords } from '../approvals/waiting-words.ts';
import { noticeView } from '../kit/form.ts';
import type { SubmitAnswer } from '../kit/modal.ts';
import type { SlackRequest } from '../transport/request.ts';
import { outcomeWords, progressWords } from './outcome-words.ts';

const CLOSE = 'You can close this window. We’ll message you the result.';

/**
 * Takes the press of **Create and pay** or **Renew and pay**: written durably, then acknowledged, then sent, or left to
 * another manager's approval.
 * Money effect: pays once for one operation; a second press shows how the first one stands.
 */
export async function pay(
  confirmation: Confirmation,
  title: string,
  viewId: string,
  request: SlackRequest,
): Promise<SubmitAnswer> {
  // Before it is confirmed: the outcome may come as soon as it is.
  request.views.follow(confirmation.id, viewId);
  const confirmed = await request.execute(confirmPurchase, confirmation);
  if (!confirmed.isNew) return { with: noticeView(title, ...knownWords(confirmed, confirmation, request)) };
  if (confirmed.kind === 'waiting')
    return { with: noticeView(title, ...waitingWords(confirmed.approval, request)) };
  return { with: noticeView(title, progressWords(confirmed.operation), CLOSE) };
}

function knownWords(confirmed: Confirmed, { id }: Confirmation, request: SlackRequest): string[] {
  if (confirmed.kind === 'waiting') return requestedBeforeWords(confirmed.approval, id, request);
  const { operation } = confirmed;
  const first = operation.id === id ? 'Already confirmed.' : 'Someone else already confirmed this.';
  return [`${first} You won’t be charged twice.`, outcomeWords(operation, request)];
}
