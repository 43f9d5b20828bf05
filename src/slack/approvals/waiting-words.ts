import type { Approval } from '../../domain/approval.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { mention } from '../kit/text.ts';
import type { SlackRequest } from '../transport/request.ts';
import { approvalWords } from './approval-words.ts';

/** What a form says once another manager has to approve what was confirmed in it. */
export function waitingWords(approval: Approval, { currency }: Pick<SlackRequest, 'currency'>): string[] {
  return [approvalWords(approval, currency), 'You can close this window. We’ll message you the result.'];
}

/** What a form says when an approval of the same was requested before, in this form or another one. */
export function requestedBeforeWords(
  approval: Approval,
  formId: ConfirmationId,
  { currency, caller }: Pick<SlackRequest, 'currency' | 'caller'>,
): string[] {
  const isOthers = approval.requesterId !== caller.actor.userId;
  const first = isOthers
    ? `${mention(approval.requesterId)} has already requested this. If you’re a manager, you can approve it in \`/vps status\`.`
    : approval.id === formId
      ? 'You already confirmed this.'
      : 'You’ve already requested this.';
  return [first, approvalWords(approval, currency)];
}
