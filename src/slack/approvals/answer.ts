import { answerApproval } from '../../app/approvals/answer-approval.ts';
import { carryOutApproval } from '../../app/approvals/carry-out-approval.ts';
import { notifyApproval } from '../../app/approvals/notify-approval.ts';
import type { Notifier } from '../../app/ports.ts';
import { withTimeout } from '../../app/with-timeout.ts';
import type { Approval } from '../../domain/approval.ts';
import { approvalButton } from '../buttons.ts';
import { textMessage } from '../kit/blocks.ts';
import { noticeView } from '../kit/form.ts';
import { editCards, postCards } from '../transport/cards.ts';
import { replyByOrigin } from '../transport/reply.ts';
import type { SlackRequest, Workbench } from '../transport/request.ts';
import { approvalCard, approvalMessage, deletedAnnouncement } from './approval-card.ts';
import { answeredWords, approvalWords, kindOf } from './approval-words.ts';

/** The answers of a second person, on cards and in `/vps status`. */
export const approvalActions = [
  approvalButton.approve.on(({ approvalId }, request) => answer(approvalId, true, request)),
  approvalButton.deny.on(({ approvalId }, request) => answer(approvalId, false, request)),
];

const LOOKING = 'Looking once more whether it is still as it was asked for…';

/** Money effect: what is approved is paid or deleted, once, whoever else presses. */
async function answer(approvalId: string, isApproved: boolean, request: SlackRequest): Promise<void> {
  const { services } = request.bench;
  const answering = request.execute(answerApproval, { approvalId, isApproved });
  if ((await withTimeout(answering, services.system)) === undefined)
    await request.reply.send(textMessage(LOOKING));
  const approval = await answering;
  await notifyApproval(approval.id, services);
  await request.reply.send(textMessage(answeredWords(approval)));
  if (approval.state === 'approved') await carryOutApproval(approval, services);
}

/** Cards and messages about approvals; `createTeller` sees to it that none of it throws. */
export function createApprovalNotifier(
  getBench: () => Workbench,
): Pick<Notifier, 'postApprovalCards' | 'updateApprovalCards' | 'notifyRequester'> {
  return {
    postApprovalCards: async (approval, approvers) => {
      const { services, slack, currency } = getBench();
      const card = approvalCard(approval, currency);
      const channelId = (await services.store.workspaces.find(approval.workspaceId))?.settings.channelId;
      const posted = channelId === undefined ? [] : await postCards([channelId], card, slack);
      return posted.length > 0 ? posted : postCards(approvers, card, slack);
    },
    updateApprovalCards: async (approval) => {
      const { slack, currency } = getBench();
      await editCards(approval.cards, approvalCard(approval, currency), slack);
    },
    notifyRequester: (approval) => tellRequester(approval, getBench()),
  };
}

/** An approved delete is told when it has ended, an approved purchase again by the ledger. */
async function tellRequester(approval: Approval, bench: Workbench): Promise<boolean> {
  await updateOpenView(approval, bench);
  if (approval.action.kind === 'delete' && ['approved', 'running'].includes(approval.state)) return true;
  const { id: formId, requesterId, channelId, state, reason } = approval;
  const message = approvalMessage(approval, bench.currency);
  const reply = replyByOrigin(
    { formId, ...(channelId === undefined ? {} : { channelId }) },
    requesterId,
    bench,
  );
  const isNotified = (await reply.send(message)) || (await bench.slack.post(requesterId, message)).ok;
  if (isNotified && state === 'ended' && reason === 'done') await announce(approval, reply.announce, bench);
  return isNotified;
}

const TITLES = { create: 'Create a server', renew: 'Renew a server', delete: 'Delete a server' } as const;

/** The modal in which it was confirmed may be closed long since: nothing depends on it. */
async function updateOpenView(approval: Approval, bench: Workbench): Promise<void> {
  const viewId = bench.openViews.take(approval.id);
  if (viewId === undefined) return;
  const isGoingOn = ['open', 'approved', 'running'].includes(approval.state);
  if (isGoingOn) bench.openViews.set(approval.id, viewId);
  const words = approvalWords(approval, bench.currency);
  await bench.slack.updateView(viewId, noticeView(TITLES[kindOf(approval.action)], words));
}

async function announce(
  approval: Approval,
  send: (message: ReturnType<typeof deletedAnnouncement>) => Promise<boolean>,
  { services }: Workbench,
): Promise<void> {
  const workspace = await services.store.workspaces.find(approval.workspaceId);
  const isPrivateTalk = approval.channelId === undefined || approval.channelId.startsWith('D');
  if (workspace?.settings.announces && !isPrivateTalk) await send(deletedAnnouncement(approval));
}
