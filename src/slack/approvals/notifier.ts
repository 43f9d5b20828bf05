import type { CurrencyOf } from '../../app/account/currency.ts';
import type { DecisionNotifier } from '../../app/decisions/ports.ts';
import type { Approval } from '../../domain/approval.ts';
import { createCardNotifier, type NotifierParts } from '../decisions/card-notifier.ts';
import { noticeView } from '../kit/form.ts';
import type { Outbox } from '../transport/outbox.ts';
import type { Confirmer } from '../transport/reply.ts';
import { kindOf, TITLES } from './action-kind.ts';
import { approvalCard, approvalMessage, deletedAnnouncement } from './approval-card.ts';
import { approvalWords } from './approval-words.ts';

interface Parts extends NotifierParts {
  readonly currencyOf: CurrencyOf;
}

/** Cards and messages about approvals. */
export function createApprovalNotifier(parts: Parts): DecisionNotifier<Approval> {
  return createCardNotifier<Approval>(parts, {
    card: async (approval) => approvalCard(approval, await parts.currencyOf(approval.workspaceId)),
    notifyRequester: (approval, requester) => notifyRequester(approval, requester, parts),
  });
}

/** The outcome of what was approved is sent when it has ended: a delete here, a purchase by its operation. */
async function notifyRequester(
  approval: Approval,
  requester: Confirmer,
  { outbox, currencyOf }: Parts,
): Promise<boolean> {
  const { workspaceId, action, state } = approval;
  const currency = await currencyOf(workspaceId);
  const isBeingDone = state === 'approved' || state === 'running';
  if (state === 'open') return send(approval, requester, { outbox, currency });
  const view = () => noticeView(TITLES[kindOf(action)], approvalWords(approval, currency));
  await outbox.updateFollowed(requester, view, { isFinal: !isBeingDone });
  // Who withdraws it sees that at once, in the message whose button was pressed.
  if (isBeingDone || state === 'withdrawn') return true;
  const isNotified = await send(approval, requester, { outbox, currency });
  if (isNotified && state === 'ended' && approval.reason.code === 'done')
    await outbox.announce(requester, deletedAnnouncement(approval));
  return isNotified;
}

async function send(
  approval: Approval,
  requester: Confirmer,
  { outbox, currency }: { readonly outbox: Outbox; readonly currency: string },
): Promise<boolean> {
  const message = approvalMessage(approval, currency);
  if (await outbox.replyTo(requester).send(message)) return true;
  return outbox.sendDirectly(approval.workspaceId, approval.requesterId, message);
}
