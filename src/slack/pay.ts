import { type Confirmation, confirmPurchase } from '../app/confirm-purchase.ts';
import { runOperation } from '../app/paid-operation.ts';
import { noticeView } from './kit/form.ts';
import type { SubmitAnswer } from './kit/modal.ts';
import { outcomeWords } from './messages/outcome.ts';
import type { SlackRequest } from './request.ts';

/**
 * Takes the press of **Create and pay** or **Renew and pay**: written durably, then acknowledged, then sent.
 * Money effect: pays once for one operation; a second press shows how the first one stands.
 */
export async function pay(
  confirmation: Confirmation,
  title: string,
  viewId: string,
  request: SlackRequest,
): Promise<SubmitAnswer> {
  const { isNew, operation } = await request.enter(confirmPurchase, confirmation);
  const { services, openViews, currency } = request.bench;
  const words = outcomeWords(operation, currency);
  if (!isNew) {
    const isSameForm = operation.id === confirmation.operationId;
    const first = isSameForm ? 'This was confirmed before.' : 'Somebody confirmed this before you.';
    return { with: noticeView(title, `${first} Nothing is paid twice.`, words) };
  }
  openViews.set(operation.id, viewId);
  const closing = 'You can close this window: the outcome comes to you as a message.';
  return { with: noticeView(title, words, closing), after: () => runOperation(operation.id, services) };
}
