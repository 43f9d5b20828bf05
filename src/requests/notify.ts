import type { AppContext } from '../context.ts';
import { type AuditEntry, auditRoles } from '../core/audit-entry.ts';
import { makeAuditEntry } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ChannelId, ConfirmationId, PostedMessage, UserId } from '../core/ids.ts';
import { listApprovers, listOwners } from '../core/permission.ts';
import { type Actor, THE_APP } from '../core/roles.ts';
import { DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { JobHandler } from '../db/jobs.ts';
import type { Users } from '../slack/directory.ts';
import type { Message } from '../slack/kit/blocks.ts';
import { type NotifierParts, notifySafely } from '../slack/outbox.ts';
import type { Confirmer } from '../slack/reply.ts';
import {
  ALL_KINDS,
  type Approval,
  auditOfApproval,
  labelOfAction,
  REQUEST,
  type Request,
  type RequestOf,
  type RoleRequest,
} from './request.ts';

/** @throws Refusal `request_over` when this workspace has no such request of these kinds */
export async function getRequest<Kind extends Request['kind']>(
  id: ConfirmationId,
  kinds: readonly Kind[],
  { workspaceId }: Actor,
  { requests }: AppContext,
): Promise<RequestOf<Kind>> {
  const request = await requests.find(id, kinds);
  if (request?.workspaceId !== workspaceId) throw new Refusal('request_over', { state: 'unknown' });
  return request;
}

/** @throws Refusal `own_request`: the requester never decides */
export function refuseOwnRequest({ requesterId }: Request, { userId }: Actor): void {
  if (requesterId === userId) throw new Refusal('own_request', {});
}

/** @throws Refusal `not_requester`: only the requester withdraws */
export function refuseOthersRequest({ requesterId }: Request, { userId }: Actor): void {
  if (requesterId !== userId) throw new Refusal('not_requester', { requesterId });
}

/**
 * Another user was faster, or it has expired: updates cards that still have their buttons, and refuses.
 * @throws Refusal `request_over`
 */
export async function refuseClosed(id: ConfirmationId, app: AppContext): Promise<never> {
  const request = await app.requests.find(id, ALL_KINDS);
  if (request && request.state !== 'open') await app.requestNotifier.updateCards(request);
  // If it is still open but can't be decided any more, its time is over and it has not been closed yet.
  const state = request?.state === 'open' ? 'expired' : (request?.state ?? 'unknown');
  throw new Refusal('request_over', { state, by: request?.decidedBy });
}

/** Who is asked to decide: the channel or, if it can't be reached, these users. */
export interface Deciders {
  readonly channelId?: ChannelId | undefined;
  readonly userIds: readonly UserId[];
}

/**
 * Who can answer, as far as they are known by ID; the requester can't. Owners are asked for a role directly, since a reason
 * may be private; managers for an approval in the channel of the settings, or directly.
 */
export async function findDeciders(request: Request, app: AppContext): Promise<Deciders> {
  const { workspaceId, requesterId } = request;
  if (request.kind === 'role') {
    const owners = await listOwners(workspaceId, app);
    return { userIds: owners.filter((owner) => owner !== requesterId) };
  }
  const label = labelOfAction(request);
  const userIds = await listApprovers({ workspaceId, requesterId, label }, app);
  const { channelId } = await app.workspaces.readSettings(workspaceId);
  return { channelId, userIds };
}

/**
 * Notifies users of the current state of a request, as its job. While it is open, the deciders get cards; after that the cards
 * show the outcome, and the requester gets a message. If Slack refuses, the job tries again. If another process is doing that, it
 * continues with what has changed in the meantime.
 */
export async function notifyRequest(id: ConfirmationId, app: AppContext): Promise<void> {
  await app.jobs.runNow(REQUEST, id, () => notify(id, app));
}

/** Returns when the request is due again. */
async function notify(id: ConfirmationId, app: AppContext): Promise<number | undefined> {
  const request = await app.requests.find(id, ALL_KINDS);
  if (!request || request.isNotified) return findNextDue(id, app);
  const { state, requestedAt, decidedAt = requestedAt } = request;
  if (state === 'open') await askDeciders(request, app);
  else if (app.system.now() - decidedAt <= NOTIFY_FOR_MS) await notifyOfOutcome(request, app);
  else {
    // Too late for a message, but the buttons are still removed.
    await app.requestNotifier.updateCards(request);
    await app.requests.markNotified(id, state);
  }
  return findNextDue(id, app);
}

async function notifyOfOutcome(request: Request, app: AppContext): Promise<void> {
  const { requests, requestNotifier } = app;
  const isShown = await requestNotifier.updateCards(request);
  if (!(await requestNotifier.notifyRequester(request))) return;
  // Slack may have come back between the two, and nothing looks at what was notified again.
  if (!isShown) await requestNotifier.updateCards(request);
  await requests.markNotified(request.id, request.state);
}

async function askDeciders(request: Request, app: AppContext): Promise<void> {
  const { requests, requestNotifier } = app;
  const { id, state } = request;
  const cards = request.cards.length > 0 ? request.cards : await postCards(request, app);
  const isReached = cards.length > 0;
  // The form that asks for a role says itself whether an owner was reached: posting is repeated until one is. Who asks for an
  // approval gets a message either way, and can withdraw the request there.
  const isToldNow = request.kind !== 'role' && request.cards.length === 0;
  const isTold = isToldNow && !isReached && (await requestNotifier.notifyRequester(request));
  if (isReached || isTold) await requests.markNotified(id, state);
  if (isReached && isToldNow) await requestNotifier.notifyRequester({ ...request, cards });
  // If it was decided while the cards were being posted, they still show it as open.
  const now = await requests.find(id, ALL_KINDS);
  if (now && now.state !== 'open') await requestNotifier.updateCards(now);
}

async function postCards(request: Request, app: AppContext): Promise<readonly PostedMessage[]> {
  const cards = await app.requestNotifier.postCards(request, await findDeciders(request, app));
  await app.requests.storeCards(request.id, cards);
  return cards;
}

/** After this time the outcome would come too late. Who can answer is asked as long as the request is open. */
const NOTIFY_FOR_MS = DAY_MS;

/**
 * Creates the handler that continues requests, by their jobs: it expires what was not decided in time, and tells users what they
 * have not been told because of a crash or of Slack. Only the process that holds the job does so, so that nobody is told twice.
 */
export function createRequestHandler(app: AppContext): JobHandler {
  return async ({ key: id }) => {
    const request = await app.requests.find(id, ALL_KINDS);
    if (!request) return undefined;
    const now = app.system.now();
    if (request.state === 'open' && request.expiresAt <= now)
      await app.requests.move(id, ['open'], { state: 'expired', at: now }, auditOfExpiry(request, app));
    return notify(id, app);
  };
}

const LONGEST_WAIT_MS = 5 * MINUTE_MS;

/** When a request is due again: if its users could not be told, less and less often; if it is open, when it expires. */
async function findNextDue(id: ConfirmationId, app: AppContext): Promise<number | undefined> {
  const request = await app.requests.find(id, ALL_KINDS);
  if (!request) return undefined;
  const now = app.system.now();
  const { state, isNotified, requestedAt, decidedAt = requestedAt, expiresAt } = request;
  if (isNotified) return state === 'open' ? expiresAt : undefined;
  const again = now + Math.min(Math.max((now - decidedAt) / 8, 2000), LONGEST_WAIT_MS);
  return Math.round(state === 'open' ? Math.min(again, expiresAt) : again);
}

function auditOfExpiry(request: Request, app: AppContext): AuditEntry {
  const expired = { actorId: THE_APP, surface: 'background', outcome: 'failed', code: 'expired' } as const;
  if (request.kind !== 'role')
    return auditOfApproval(request, app, { action: 'approval_answer', ...expired });
  const { workspaceId, role, pattern, requesterId } = request;
  const details = auditRoles([{ role, pattern, subjectId: requesterId }]);
  return makeAuditEntry(app, { workspaceId, action: 'access_answer', details, ...expired });
}

/** Adds whether the requester is a guest, for those who decide. Asks Slack; without an answer, it isn't said. */
export async function withGuest(request: RoleRequest, users: Users): Promise<RoleRequest> {
  const user = await users.find(request.workspaceId, request.requesterId);
  return user?.isGuest ? { ...request, isGuest: true } : request;
}

/** Whether a press was made on one of the request's cards, which can show its user the answer. */
export function isOnCard(
  { cards }: Request,
  { pressed }: { readonly pressed?: PostedMessage | undefined },
): boolean {
  return cards.some(({ channelId, ts }) => channelId === pressed?.channelId && ts === pressed.ts);
}

/** What Slack shows of one kind of request. */
export interface RequestScreen<Shown extends Request> {
  /** What a decider sees: the request with its buttons, later replaced by the outcome. */
  card(request: Shown, parts: NotifierParts): Message | Promise<Message>;
  /** True when Slack took the message, or none is needed. */
  notifyRequester(request: Shown, requester: Confirmer, parts: NotifierParts): Promise<boolean>;
}

/** Posts and updates the cards of requests, and tells requesters. No method throws. */
export function createRequestNotifier(
  parts: NotifierParts,
  screens: { readonly approval: RequestScreen<Approval>; readonly role: RequestScreen<RoleRequest> },
) {
  const { outbox, log } = parts;
  const screenOf = ({ kind }: Request): RequestScreen<Request> =>
    kind === 'role' ? screens.role : screens.approval;
  return {
    postCards: (request: Request, deciders: Deciders): Promise<readonly PostedMessage[]> =>
      notifySafely(request.id, log, [], async () =>
        outbox.postCards(request.workspaceId, deciders, await screenOf(request).card(request, parts)),
      ),
    /** Shows the current state in the cards that were posted. True when Slack took all of them. */
    updateCards: (request: Request): Promise<boolean> =>
      notifySafely(request.id, log, false, async () =>
        outbox.editCards(request.workspaceId, request.cards, await screenOf(request).card(request, parts)),
      ),
    /** Reports the outcome to the requester, or before it, whether deciders were asked. True if Slack accepted the message. */
    notifyRequester: (request: Request): Promise<boolean> => {
      const { id: confirmationId, workspaceId, requesterId: userId, channelId } = request;
      const requester = { confirmationId, workspaceId, userId, channelId };
      return notifySafely(confirmationId, log, false, () =>
        screenOf(request).notifyRequester(request, requester, parts),
      );
    },
  };
}
