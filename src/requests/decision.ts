import type { AppContext } from '../context.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import {
  describeDefect,
  type HostingFailureDetails,
  isExpected,
  type NoDetails,
  type Reason,
  Refusal,
} from '../core/errors.ts';
import type { ChannelId, ConfirmationId, ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import type { Money } from '../core/money.ts';
import type { Actor } from '../core/roles.ts';
import { HOUR_MS } from '../core/time.ts';
import { labelOf, type Purchase } from '../purchases/operation.ts';

/** A message of ours that is edited in place later. */
export interface Card {
  readonly channelId: ChannelId;
  readonly ts: string;
}

/**
 * The states of an approval: open → approved → (a delete) running → ended; or denied, withdrawn by its requester, expired, or
 * canceled, since what it was about has changed. An approved purchase goes on in the ledger.
 */
export const APPROVAL_STATES = [
  'open',
  'approved',
  'running',
  'ended',
  'denied',
  'withdrawn',
  'expired',
  'canceled',
] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** The states of an access request; `replaced`: the same user asked for the same role again. */
export const ACCESS_REQUEST_STATES = [
  'open',
  'approved',
  'denied',
  'withdrawn',
  'replaced',
  'expired',
] as const;
export type AccessRequestState = (typeof ACCESS_REQUEST_STATES)[number];

/** What may be found instead of an open decision; `unknown`: there is none with that ID. */
export type ClosedState = Exclude<ApprovalState | AccessRequestState, 'open'> | 'unknown';

/** What one user requested and another one decides: an approval, or an access request. */
export interface Decision {
  readonly id: ConfirmationId;
  readonly workspaceId: WorkspaceId;
  readonly requesterId: UserId;
  /** Where it was requested. */
  readonly channelId?: ChannelId;
  readonly state: ApprovalState | AccessRequestState;
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly decidedBy?: UserId;
  /** What the user who denied it wrote to the requester. */
  readonly denialReason?: string;
  /** When it stopped being open, for any reason. */
  readonly decidedAt?: number;
  /** Whether users were notified of this state: by cards while it is open, the requester after that. */
  readonly isNotified: boolean;
  /** The messages that ask for it. */
  readonly cards: readonly Card[];
}

/** What is known of a decision when it is requested. */
export type NewDecision<Kind extends Decision> = Omit<
  Kind,
  'state' | 'isNotified' | 'cards' | 'decidedBy' | 'decidedAt' | 'denialReason'
>;

/** What a second user has to approve, exactly as the first one confirmed it. */
export type ApprovalAction =
  | { readonly kind: 'purchase'; readonly purchase: Purchase; readonly price?: Money }
  | {
      readonly kind: 'delete';
      readonly serverId: ServerId;
      readonly label: string;
      /** The end of the paid time that would be lost; absent if the API does not say. */
      readonly paidUntil?: number;
    };

/** Why an approval was canceled. */
export interface CancelDetails {
  role_needed: NoDetails;
  account_changed: NoDetails;
  unknown_server: NoDetails;
  label_differs: NoDetails;
  server_protected: NoDetails;
  already_renewed: NoDetails;
  unknown_choice: NoDetails;
  price_moved: NoDetails;
  over_budget: NoDetails;
  stale_confirmation: NoDetails;
  /** The database was restored from a backup: it may have been answered since. */
  restored: NoDetails;
}
export type CancelReason = Reason<CancelDetails>;

/**
 * How an approved delete ended: done, refused, unknown (`no_answer`, or `lost_account` if another account was connected
 * before the outcome could be checked), or stopped by a defect. An unreadable answer is treated like a missing one.
 */
export interface DeleteEndDetails extends Omit<HostingFailureDetails, 'unreadable_answer' | 'unknown_code'> {
  done: NoDetails;
  /** An owner has protected the server since. */
  server_protected: NoDetails;
  lost_account: NoDetails;
  defect: NoDetails;
}
export type DeleteEnd = Reason<DeleteEndDetails>;

/** The state of an approval, and the reason for it. */
export type ApprovalOutcome =
  | { readonly state: Exclude<ApprovalState, 'canceled' | 'ended'> }
  | { readonly state: 'canceled'; readonly reason: CancelReason }
  | { readonly state: 'ended'; readonly reason: DeleteEnd };

interface ApprovalRequest extends Decision {
  /** What will be done. Its operation gets the same ID as the approval. */
  readonly action: ApprovalAction;
  /** Whether approval is needed because a budget is used up, not (only) because of the two-person rule. */
  readonly isOverBudget: boolean;
  /** Which API key the workspace had when it was requested: the count of its changes. */
  readonly keyGeneration: number;
}

/** Something that one user confirmed and another one has to approve (two-person rule). */
export type Approval = Omit<ApprovalRequest, 'state'> & ApprovalOutcome;

/** The store counts the keys. */
export type NewApproval = Omit<NewDecision<ApprovalRequest>, 'keyGeneration'>;

/** How long an approval stays open. */
export const APPROVAL_MS = HOUR_MS;

export function labelOfAction(action: ApprovalAction): string {
  return action.kind === 'delete' ? action.label : labelOf(action.purchase);
}

/** Who is asked to decide: the channel, or where it can't be reached these users. */
export interface Deciders {
  readonly channelId?: ChannelId | undefined;
  readonly userIds: readonly UserId[];
}

/** Notifies users of one kind of decision. No method throws. */
export interface DecisionNotifier<Kind> {
  /** Asks them to decide; returns the cards that were posted. */
  postCards(decision: Kind, deciders: Deciders): Promise<readonly Card[]>;
  /** Shows the current state in the cards that were posted. True when Slack took all of them. */
  updateCards(decision: Kind): Promise<boolean>;
  /** Reports the outcome to the requester, or before it, whether deciders were asked. True if Slack accepted the message. */
  notifyRequester(decision: Kind): Promise<boolean>;
}

/** One kind of decision as it is stored. Every change of state is one transaction with its audit entry. */
export interface DecisionStore<Kind extends Decision> {
  find(id: ConfirmationId): Promise<Kind | undefined>;
  storeCards(id: ConfirmationId, cards: readonly Card[]): Promise<void>;
  /** Stores that users were notified of that state. If it has changed since, they still have to be notified of the new one. */
  markNotified(id: ConfirmationId, state: Kind['state']): Promise<void>;
  /** Oldest first. */
  listOpen(workspaceId: WorkspaceId): Promise<readonly Kind[]>;
  /** Expires open ones after their time; returns them. */
  expire(now: number, auditOf: (decision: Kind) => AuditEntry): Promise<readonly Kind[]>;
  /** Those that changed their state before that time and that users have not been notified of, oldest first. */
  listUnnotified(before: number): Promise<readonly Kind[]>;
}

/** What differs between kinds of decisions; everything else is shared. */
export interface DecisionKind<Kind extends Decision> {
  /** Its name in the log. */
  readonly name: string;
  readonly app: AppContext;
  readonly store: DecisionStore<Kind>;
  readonly notifier: DecisionNotifier<Kind>;
  findDeciders(decision: Kind): Promise<Deciders>;
  auditOfExpiry(decision: Kind): AuditEntry;
  /** True: the requester is notified if no decider could be reached. False: posting is retried until one is reached. */
  readonly notifiesRequesterWhenUnreached: boolean;
  /** True: the requester gets a message that deciders were asked, and can withdraw the request there. */
  readonly confirmsToRequester: boolean;
  /** States that the requester caused, so that no message about them is needed. */
  readonly knownStates: readonly Kind['state'][];
  /** Runs when users were notified of the outcome, before that is stored: a crash can repeat it. Never throws. */
  afterOutcome?(decision: Kind): Promise<void>;
}

/** @throws Refusal `request_over` when this workspace has no such decision */
export async function getDecision<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  id: ConfirmationId,
  { workspaceId }: Actor,
): Promise<Kind> {
  const decision = await kind.store.find(id);
  if (decision?.workspaceId !== workspaceId) throw new Refusal('request_over', { state: 'unknown' });
  return decision;
}

/** @throws Refusal `own_request`: the requester never decides */
export function refuseOwnRequest({ requesterId }: Decision, { userId }: Actor): void {
  if (requesterId === userId) throw new Refusal('own_request', {});
}

/** @throws Refusal `not_requester`: only the requester withdraws */
export function refuseOthersRequest({ requesterId }: Decision, { userId }: Actor): void {
  if (requesterId !== userId) throw new Refusal('not_requester', { requesterId });
}

/**
 * Another user was faster, or it has expired: updates cards that still have their buttons, and refuses.
 * @throws Refusal `request_over`
 */
export async function refuseClosed<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  id: ConfirmationId,
): Promise<never> {
  const decision = await kind.store.find(id);
  if (decision && decision.state !== 'open') await kind.notifier.updateCards(decision);
  throw new Refusal('request_over', {
    state: closedStateOf(decision),
    by: decision?.decidedBy,
  });
}

/** If it is still open but can't be decided any more, it has expired and the sweep has not handled it yet. */
function closedStateOf(decision: Decision | undefined): ClosedState {
  if (!decision) return 'unknown';
  return decision.state === 'open' ? 'expired' : decision.state;
}

/**
 * Notifies users of the current state of a decision. While it is open, the deciders get cards; after that the cards show
 * the outcome, and the requester gets a message. If Slack refuses, the sweep tries again, even after a restart.
 * Returns the decision as it is then; undefined if there is none.
 */
export async function notifyDecision<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  id: ConfirmationId,
): Promise<Kind | undefined> {
  // One at a time: otherwise two workers could both find no cards and post them twice.
  return kind.app.locks.run(lockOf(id), () => notify(kind, id));
}

/** The same, unless another worker is notifying users of it, in any process. */
async function notifyDecisionIfFree<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  id: ConfirmationId,
): Promise<void> {
  await kind.app.locks.runIfFree(lockOf(id), async () => {
    await notify(kind, id);
  });
}

function lockOf(id: ConfirmationId): string {
  return `request ${id}`;
}

async function notify<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  id: ConfirmationId,
): Promise<Kind | undefined> {
  const decision = await kind.store.find(id);
  if (!decision || decision.isNotified) return decision;
  await (decision.state === 'open' ? requestDecision(kind, decision) : notifyOfOutcome(kind, decision));
  return kind.store.find(id);
}

async function notifyOfOutcome<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  decision: Kind,
): Promise<void> {
  const { notifier, store, knownStates } = kind;
  const isShown = await notifier.updateCards(decision);
  const isNotified = knownStates.includes(decision.state) || (await notifier.notifyRequester(decision));
  if (!isNotified) return;
  // Slack may have come back between the two, and the sweep is done with what was notified.
  if (!isShown) await notifier.updateCards(decision);
  await kind.afterOutcome?.(decision);
  await store.markNotified(decision.id, decision.state);
}

async function requestDecision<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  decision: Kind,
): Promise<void> {
  const { notifier, store, notifiesRequesterWhenUnreached, confirmsToRequester } = kind;
  const { id, state } = decision;
  const cards = decision.cards.length > 0 ? decision.cards : await postCards(kind, decision);
  const isReached = cards.length > 0;
  const isNotified =
    isReached || (notifiesRequesterWhenUnreached && (await notifier.notifyRequester(decision)));
  if (isNotified) await store.markNotified(id, state);
  if (isReached && confirmsToRequester && decision.cards.length === 0)
    await notifier.notifyRequester({ ...decision, cards });
  // If it was decided while the cards were being posted, they still show it as open.
  const now = await store.find(id);
  if (now && now.state !== 'open') await notifier.updateCards(now);
}

async function postCards<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  decision: Kind,
): Promise<readonly Card[]> {
  const cards = await kind.notifier.postCards(decision, await kind.findDeciders(decision));
  await kind.store.storeCards(decision.id, cards);
  return cards;
}

/** Work that follows from a decision and that a crash may have interrupted. */
interface UnfinishedWork<Kind> {
  /** What was begun before that moment and has not ended. */
  list(before: number): Promise<readonly Kind[]>;
  resume(decision: Kind, now: number): Promise<void>;
}

/**
 * Expires decisions that were not made in time, and continues work that a crash or a Slack outage has interrupted. What a
 * living process works on is locked by it (docs/design.md 4.10). `startedAt` is when this process started: what is older was
 * most likely left by the one before it, and need not wait.
 */
export async function sweepDecisions<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  startedAt: number,
  unfinishedWork?: UnfinishedWork<Kind>,
): Promise<void> {
  const { store } = kind;
  const now = kind.app.system.now();
  const expired = await store.expire(now, (decision) => kind.auditOfExpiry(decision));
  const before = Math.max(startedAt, now - FOLLOWING_MS);
  const left = (await unfinishedWork?.list(before)) ?? [];
  const unnotified = await store.listUnnotified(before);
  for (const each of left) await tryTo(kind, each, async () => unfinishedWork?.resume(each, now));
  const isLeft = ({ id }: Kind) => left.some((each) => each.id === id);
  for (const each of [...expired, ...unnotified.filter((one) => !isLeft(one))])
    await tryTo(kind, each, () => notifyLate(kind, each, now));
}

async function notifyLate<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  decision: Kind,
  now: number,
): Promise<void> {
  const { id, state, requestedAt, decidedAt = requestedAt } = decision;
  if (now - decidedAt <= NOTIFY_FOR_MS) {
    await notifyDecisionIfFree(kind, id);
    return;
  }
  // Too late for a message, but the buttons are still removed.
  if (state !== 'open') await kind.notifier.updateCards(decision);
  await kind.store.markNotified(id, state);
}

/** A failure of one must not hold up the others. */
async function tryTo<Kind extends Decision>(
  { app, name }: DecisionKind<Kind>,
  { id }: Kind,
  work: () => Promise<void>,
): Promise<void> {
  await work().catch((error: unknown) => {
    const cause = isExpected(error) ? { cause: error.code } : describeDefect(error);
    app.log.warn('a decision could not be moved on', { kind: name, confirmationId: id, ...cause });
  });
}

/** What follows from a change of state begins within this time, unless the process that made the change has died. */
const FOLLOWING_MS = 15_000;
/** After this time a message would come too late: notifying is given up. */
const NOTIFY_FOR_MS = 24 * 3_600_000;
