import type { DecisionNotifier } from '../../app/decisions/ports.ts';
import type { Approval } from '../../domain/approval.ts';
import type { Log } from '../../log.ts';
import { noticeView } from '../kit/form.ts';
import { notifySafely } from '../transport/notify-safely.ts';
import type { Outbox } from '../transport/outbox.ts';
import { approvalCard, approvalMessage, deletedAnnouncement } from './approval-card.ts';
import { approvalWords, kindOf } from './approval-words.ts';

interface Parts {
  readonly outbox: Outbox;
  readonly log: Log;
  readonly currency: string;
}

/** Cards and messages about approvals. */
export function createApprovalNotifier(parts: Parts): DecisionNotifier<Approval> {
  const { outbox, log, currency } = parts;
  return {
    postCards: (approval, { channelId, deciders }) =>
      notifySafely(approval.id, log, [], async () => {
        const card = approvalCard(approval, currency);
        const post = (recipients: readonly string[]) =>
          outbox.postCards(approval.workspaceId, recipients, card);
        const posted = channelId === undefined ? [] : await post([channelId]);
        return posted.length > 0 ? posted : post(deciders);
      }),
    updateCards: (approval) =>
      notifySafely(approval.id, log, undefined, () =>
        outbox.editCards(approval.workspaceId, approval.cards, approvalCard(approval, currency)),
      ),
    notifyRequester: (approval) =>
      notifySafely(approval.id, log, false, () => notifyRequester(approval, parts)),
  };
}

const TITLES = { create: 'Create a server', renew: 'Renew a server', delete: 'Delete a server' } as const;

/** An approved delete is told when it has ended, an approved purchase again by its operation. */
async function notifyRequester(approval: Approval, { outbox, currency }: Parts): Promise<boolean> {
  const { id: confirmationId, workspaceId, requesterId: userId, channelId, state, reason } = approval;
  const confirmer = { confirmationId, workspaceId, userId, channelId };
  const title = TITLES[kindOf(approval.action)];
  await outbox.updateFollowed(confirmer, () => noticeView(title, approvalWords(approval, currency)), {
    isFinal: !['open', 'approved', 'running'].includes(state),
  });
  if (approval.action.kind === 'delete' && ['approved', 'running'].includes(state)) return true;
  const message = approvalMessage(approval, currency);
  const isNotified =
    (await outbox.replyTo(confirmer).send(message)) ||
    (await outbox.sendDirectly(workspaceId, userId, message));
  if (isNotified && state === 'ended' && reason === 'done') {
    await outbox.announce(confirmer, deletedAnnouncement(approval));
  }
  return isNotified;
}
