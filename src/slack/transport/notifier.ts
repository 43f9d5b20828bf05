import type { HeldPassword, Notifier } from '../../app/ports.ts';
import type { Operation } from '../../domain/operation.ts';
import { createAccessNotifier } from '../access/notifier.ts';
import { createApprovalNotifier } from '../approvals/answer.ts';
import { noticeView } from '../kit/form.ts';
import { announcement, outcomeMessage, outcomeWords } from '../purchases/outcome-message.ts';
import { replyByOrigin } from './reply.ts';
import type { Workbench } from './request.ts';

/** Tells outcomes in Slack: ephemerally where the form was opened, else without secrets as a direct message. */
export function createNotifier(getBench: () => Workbench): Notifier {
  const approvals = createApprovalNotifier(getBench);
  const requests = createAccessNotifier(getBench);
  /** What could not be told stays owed. */
  const neverThrow = async <Told>(id: string, work: Promise<Told>, otherwise: Told): Promise<Told> => {
    try {
      return await work;
    } catch (error) {
      const cause = error instanceof Error ? error.name : 'unknown';
      getBench().services.log.warn('an outcome could not be told', { operationId: id, cause });
      return otherwise;
    }
  };
  return {
    notifyOperation: (operation, held) => {
      const untold = { isNotified: false, isPasswordShown: false };
      return neverThrow(operation.id, tell(operation, held, getBench()), untold);
    },
    postApprovalCards: (approval, approvers) =>
      neverThrow(approval.id, approvals.postApprovalCards(approval, approvers), []),
    updateApprovalCards: (approval) =>
      neverThrow(approval.id, approvals.updateApprovalCards(approval), undefined),
    notifyRequester: (approval) => neverThrow(approval.id, approvals.notifyRequester(approval), false),
    postAccessCards: (request, owners) =>
      neverThrow(request.id, requests.postAccessCards(request, owners), []),
    updateAccessCards: (request) => neverThrow(request.id, requests.updateAccessCards(request), undefined),
    notifyAccessRequester: (request) =>
      neverThrow(request.id, requests.notifyAccessRequester(request), false),
  };
}

async function tell(operation: Operation, held: HeldPassword | undefined, bench: Workbench) {
  const origin = {
    formId: operation.id,
    ...(operation.channelId === undefined ? {} : { channelId: operation.channelId }),
  };
  const reply = replyByOrigin(origin, operation.actorId, bench);
  const isShown = await reply.send(outcomeMessage(operation, held, bench.currency));
  await updateOpenView(operation, isShown, bench);
  const isNotified = isShown || (await tellDirectly(operation, bench));
  if (isNotified && operation.state === 'settled') await announce(operation, reply.announce, bench);
  return { isNotified, isPasswordShown: isShown && held !== undefined };
}

/** The last resort says everything but the password, which is shown by `/vps password`. */
async function tellDirectly(operation: Operation, { slack, currency }: Workbench): Promise<boolean> {
  const { ok } = await slack.post(operation.actorId, outcomeMessage(operation, undefined, currency));
  return ok;
}

/** The modal may be closed long since: nothing depends on it. */
async function updateOpenView(operation: Operation, isShown: boolean, bench: Workbench): Promise<void> {
  const viewId = bench.openViews.take(operation.id);
  if (viewId === undefined) return;
  if (operation.state === 'in_doubt') bench.openViews.set(operation.id, viewId);
  const words = [outcomeWords(operation, bench.currency)];
  if (operation.state === 'settled' && operation.hasPassword) {
    words.push(
      isShown
        ? 'Its root password is in the channel, in a message that only you can see. You can close this window.'
        : 'Its root password waits for you: `/vps password` shows it.',
    );
  }
  const title = operation.purchase.kind === 'create' ? 'Create a server' : 'Renew a server';
  await bench.slack.updateView(viewId, noticeView(title, ...words));
}

async function announce(
  operation: Operation,
  send: (message: ReturnType<typeof announcement>) => Promise<boolean>,
  { services }: Workbench,
): Promise<void> {
  const workspace = await services.store.workspaces.find(operation.workspaceId);
  const isPrivateTalk = operation.channelId === undefined || operation.channelId.startsWith('D');
  if (workspace?.settings.announces && !isPrivateTalk) await send(announcement(operation));
}

/** Remembers which open modal shows which payment, for as long as modals plausibly stay open. */
export function createOpenViews(most = 1000) {
  const views = new Map<string, string>();
  return {
    set: (operationId: string, viewId: string) => {
      const oldest = views.keys().next().value;
      if (views.size >= most && oldest !== undefined) views.delete(oldest);
      views.set(operationId, viewId);
    },
    take: (operationId: string) => {
      const viewId = views.get(operationId);
      views.delete(operationId);
      return viewId;
    },
  };
}
