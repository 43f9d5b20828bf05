import { type Confirmation, type Confirmed, confirmPurchase } from '../../app/purchases/confirm-purchase.ts';
import type { Approval } from '../../domain/approval.ts';
import { approvalWords } from '../approvals/approval-words.ts';
import { noticeView } from '../kit/form.ts';
import type { SubmitAnswer } from '../kit/modal.ts';
import { mention } from '../kit/text.ts';
import type { SlackRequest } from '../transport/request.ts';
import { outcomeWords } from './outcome-message.ts';

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
  const words = outcomeWords(confirmed.operation, request.currency);
  return {
    with: noticeView(title, words, 'You can close this window: the outcome comes to you as a message.'),
  };
}

/** What a press says that another manager has to approve first. */
export function waitingWords(approval: Approval, { currency }: SlackRequest): string[] {
  return [
    approvalWords(approval, currency),
    'You can close this window: what comes of it is told to you in a message.',
  ];
}

/** What a press says when an approval of the same was requested before, with this form or another one. */
export function askedBefore(
  approval: Approval,
  formId: string,
  { currency, caller }: SlackRequest,
): string[] {
  const isSameForm = approval.id === formId;
  const isOthers = approval.requesterId !== caller.actor.userId;
  const first = isSameForm
    ? 'This was confirmed before.'
    : isOthers
      ? `${mention(approval.requesterId)} has asked for this already. If you may approve it, \`/vps status\` lets you.`
      : 'You have asked for this already.';
  return [first, approvalWords(approval, currency)];
}

function knownWords(confirmed: Confirmed, { id }: Confirmation, request: SlackRequest): string[] {
  if (confirmed.kind === 'waiting') return askedBefore(confirmed.approval, id, request);
  const { operation } = confirmed;
  const first = operation.id === id ? 'This was confirmed before.' : 'Somebody confirmed this before you.';
  return [`${first} Nothing is paid twice.`, outcomeWords(operation, request.currency)];
}
