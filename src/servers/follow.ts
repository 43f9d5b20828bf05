import { getHostingOf } from '../account/keys.ts';
import type { AppContext } from '../context.ts';
import type { Entry, UseCaseContext } from '../core/entry.ts';
import { describeDefect, isExpected, isRefusal } from '../core/errors.ts';
import type { ChannelId, ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import { findKeyNameOf } from '../core/roles.ts';
import { isDeleted, isTargetState, POWER_ACTIONS, type PowerAction, type Server } from '../core/server.ts';
import { DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { HostingApi } from '../hosting/hosting-api.ts';
import type { Card } from '../requests/decision.ts';
import type { System } from '../system.ts';
import type { StartedAct, TakenAct } from './ports.ts';

/** The actions after which a server is followed until it has settled (docs/design.md 2.11). */
export const FOLLOWED_ACTIONS = [...POWER_ACTIONS, 'create', 'renew', 'delete'] as const;
export type FollowedAction = (typeof FOLLOWED_ACTIONS)[number];

/** Lists the earlier actions whose outcome this one hides. A reboot doesn't hide the outcome of a renewal. */
export function supersededBy(action: FollowedAction): readonly FollowedAction[] {
  if (isPower(action)) return POWER_ACTIONS;
  return action === 'delete' ? [...POWER_ACTIONS, 'create', 'renew'] : [];
}

/** How long an action is followed before it is called unfinished. */
export const FOLLOW_MS = 10 * MINUTE_MS;

/** How a followed server stands. `there`: as the action should leave it. `unknown`: its account can no longer be read. */
export const FOLLOWED_STANDINGS = ['waiting', 'there', 'gone', 'superseded', 'unknown'] as const;
export type FollowedStanding = (typeof FOLLOWED_STANDINGS)[number];

/** One server of a followed action, as it was last seen. */
export interface FollowedServer {
  readonly serverId: ServerId;
  readonly label: string;
  readonly standing: FollowedStanding;
  /** As the hosting API reported it last. */
  readonly state?: string;
  readonly ipv4?: string;
  /** For a renewal: the date that the list has to show. Epoch milliseconds. */
  readonly paidUntil?: number;
  /** The API has reported another state than the action's target at some time, so the change was observed. */
  readonly hasChanged: boolean;
  /** Milliseconds from the act until the server was first seen as the action should leave it. */
  readonly settledMs?: number;
  /** The later action that hides this one's outcome. */
  readonly superseded?: { readonly by: UserId; readonly action: string };
}

/** An action by one user on one or several servers, and the message that reports the outcome. */
export interface FollowedAct {
  /** One for all servers of the act. For a purchase or a deletion, the ID of its confirmation. */
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  readonly action: FollowedAction;
  readonly actorId: UserId;
  readonly channelId?: ChannelId;
  /** The thread in which the actor acted. */
  readonly thread?: { readonly ts: string; readonly isOpen: boolean };
  /** The workspace's key generation at the act: a later key may open another account. */
  readonly keyGeneration: number;
  /** The approver of a delete. Looked up when the message is sent, not stored with the act. */
  readonly approvedBy?: UserId;
  /** The channel's message; absent if there is none, and only the actor gets one. */
  readonly message?: Card;
  /** Epoch milliseconds. */
  readonly since: number;
  /** Milliseconds for which it was followed. */
  readonly passedMs: number;
  /** False if no process measured the whole duration. */
  readonly isMeasured: boolean;
  /** `describeStanding` of what was sent last. */
  readonly told: string;
  readonly servers: readonly FollowedServer[];
}

/** One server in a list. That `found` is undefined proves something only if the list is complete. */
interface ServerSnapshot {
  readonly found: Server | undefined;
  readonly isComplete: boolean;
}

/** A reboot that was not observed counts as done if the server is still running after this long. */
const UNCHANGED_MS = 10_000;

/** Updates a followed server from a list that was read `passedMs` after the act. One that no longer waits is unchanged. */
export function lookAt(
  server: FollowedServer,
  action: FollowedAction,
  { found, isComplete }: ServerSnapshot,
  passedMs: number,
): FollowedServer {
  if (server.standing !== 'waiting') return server;
  if (!found || isDeleted(found))
    return withoutServer(server, action, found !== undefined, isComplete, passedMs);
  const hasChanged = server.hasChanged || (isPower(action) && !isTargetState(action, found));
  const ipv4 = found.ipv4 ?? server.ipv4;
  const seen = { ...server, state: found.state, hasChanged, ipv4 };
  if (!hasSettled(seen, action, found, passedMs)) return seen;
  const paidUntil = found.paidUntil ?? seen.paidUntil;
  return { ...seen, paidUntil, standing: 'there', settledMs: passedMs };
}

function withoutServer(
  server: FollowedServer,
  action: FollowedAction,
  isListed: boolean,
  isComplete: boolean,
  passedMs: number,
): FollowedServer {
  if (!isListed && !isComplete) return server;
  if (action === 'delete') return { ...server, standing: 'there', settledMs: passedMs };
  // A new server may take a moment to be listed.
  return action === 'create' && !isListed ? server : { ...server, standing: 'gone' };
}

function hasSettled(seen: FollowedServer, action: FollowedAction, found: Server, passedMs: number): boolean {
  switch (action) {
    case 'create':
      return isTargetState('start', found) && found.ipv4 !== undefined;
    case 'renew':
      return found.paidUntil !== undefined && found.paidUntil >= (seen.paidUntil ?? found.paidUntil);
    case 'delete':
      return false;
    case 'reboot':
      return isTargetState(action, found) && (seen.hasChanged || passedMs >= UNCHANGED_MS);
    default:
      return isTargetState(action, found);
  }
}

/** Whether a followed action is start, stop or reboot. */
export function isPower(action: FollowedAction): action is PowerAction {
  return POWER_ACTIONS.some((each) => each === action);
}

/** Whether all servers have settled, or the time to follow them is over. */
function isOver({ servers, passedMs }: Pick<FollowedAct, 'servers' | 'passedMs'>): boolean {
  return passedMs >= FOLLOW_MS || servers.every(({ standing }) => standing !== 'waiting');
}

/** Fingerprint of what a message about the act says. Compare two values to detect news. */
export function describeStanding(act: Pick<FollowedAct, 'servers' | 'passedMs'>): string {
  const isLate = act.passedMs >= FOLLOW_MS;
  const isAlone = act.servers.length === 1;
  const parts = act.servers.map(({ serverId, standing, state = '', superseded }) => {
    const shownState = isAlone && standing === 'waiting' && !isLate ? '' : state;
    return [serverId, standing, shownState, superseded?.by, superseded?.action].filter(Boolean).join(' ');
  });
  return [isLate ? 'late' : 'on time', ...parts].join('; ');
}

/** Whether the outcome is news to the actor, who already knows the hosting API's answer. */
function isNewsToActor({ action, servers }: Pick<FollowedAct, 'action' | 'servers'>): boolean {
  if (isPower(action) || action === 'create') return true;
  return servers.some(({ standing }) => standing !== 'there');
}

/** Longest time to post an announcement. After it, the process that acted must have died, and the actor gets a message. */
export const PLACE_WITHIN_MS = 2 * MINUTE_MS;
/** First look at an act whose message is already posted. */
const FIRST_LOOK_MS = 2000;

/** Stores that a server is followed. Returns false where that fails, and never throws, since the action was carried out. */
export async function startFollowing(
  act: StartedAct,
  server: FollowedServer,
  { system, log, followedActs }: AppContext,
  waitMs = FIRST_LOOK_MS,
): Promise<boolean> {
  const now = system.now();
  try {
    await followedActs.add(act, server, { now, dueAt: now + waitMs });
    return true;
  } catch (error) {
    log.warn('a server can’t be followed', { serverId: server.serverId, ...describeDefect(error) });
    return false;
  }
}

/** Ends what earlier acts follow of the server, after an action that has settled immediately. Never throws. */
async function supersedeEarlier(
  act: StartedAct,
  serverId: ServerId,
  { log, followedActs }: AppContext,
): Promise<void> {
  await followedActs.supersede(act, serverId).catch((error: unknown) => {
    log.warn('an earlier act could not be superseded', { serverId, ...describeDefect(error) });
  });
}

const MOST_AT_ONCE = 200;

type Roles = Parameters<typeof followAccount>[2]['roles'];

/** Follows acts of all workspaces, as one of the processes that share the store. */
interface Follower {
  /** Leases due acts and starts following them; a slow account doesn't hold up others. @throws what the store throws */
  startRound(): Promise<void>;
  /** Waits for running work, and releases this process's leases. */
  drain(): Promise<void>;
}

/** Creates the follower of this process. It remembers in memory only what it is working on and how long it has measured. */
export function createFollower(app: AppContext, roles: Roles): Follower {
  const { system, followedActs, log } = app;
  const owner = system.newId();
  const clock = createFollowClock(system);
  const following = { app, roles, clock, owner };
  const busy = new Set<string>();
  const running = new Set<Promise<void>>();
  const run = (acts: readonly TakenAct[], work: () => Promise<void>) => {
    for (const { id } of acts) busy.add(id);
    const ended: Promise<void> = work()
      .catch((error: unknown) => log.warn('acts could not be followed', describeDefect(error)))
      .finally(() => {
        for (const { id } of acts) busy.delete(id);
        running.delete(ended);
      });
    running.add(ended);
  };
  return {
    startRound: async () => {
      const now = system.now();
      const lease = { owner, now, until: now + LEASE_MS };
      // For an act in progress, this only renews the lease.
      const taken = (await followedActs.take(lease, MOST_AT_ONCE)).filter(({ id }) => !busy.has(id));
      for (const act of taken.filter(isOver)) run([act], () => followOver(act, following));
      const open = taken.filter((act) => !isOver(act));
      const { accounts, lost } = await groupByAccount(open, app);
      for (const { hosting, acts } of accounts) run(acts, () => followAccount(hosting, acts, following));
      for (const act of lost) run([act], () => followLost(act, following));
    },
    drain: async () => {
      await Promise.all(running);
      await followedActs.release(owner).catch((error: unknown) => {
        log.warn('followed acts could not be let go', describeDefect(error));
      });
    },
  };
}

/** Groups acts by account, which equal keys share. An act whose account can't be found now is due again when its lease ends. */
async function groupByAccount(taken: readonly TakenAct[], app: AppContext) {
  const accounts = new Map<string, { readonly hosting: HostingApi; readonly acts: TakenAct[] }>();
  const lost: TakenAct[] = [];
  for (const act of taken) {
    const hosting = await findAccountOf(act, app);
    if (hosting === 'lost') lost.push(act);
    else if (hosting) {
      const group = accounts.get(hosting.account) ?? { hosting, acts: [] };
      group.acts.push(act);
      accounts.set(hosting.account, group);
    }
  }
  return { accounts: [...accounts.values()], lost };
}

/** Reports to users how the servers of an act end up. Neither method throws. */
export interface FollowNotifier {
  /** Shows the act's current state in the channel's message. */
  update(act: FollowedAct): Promise<Updated>;
  /** Reports the outcome to the actor alone. False if Slack accepted no message. */
  notifyActor(act: FollowedAct): Promise<boolean>;
}

/** What became of an edit of the channel's message. */
export type Updated =
  | { readonly kind: 'shown' }
  /** The message was deleted, or must not be shown there any more. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'later'; readonly afterMs: number };

/** Checks whether the actor may still see the servers. */
type RoleCheck = Pick<Entry, 'hasRole'>;

interface Following {
  readonly app: AppContext;
  readonly roles: RoleCheck;
  readonly clock: FollowClock;
  /** The lease owner: this process. */
  readonly owner: string;
}

/** Another process takes over the acts of a crashed one after this time. */
const LEASE_MS = 30_000;
/** Quick at first: most servers settle within seconds. */
const SHORTEST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 15_000;
/** How long a message that can't be sent is retried. */
const NOTIFY_MS = DAY_MS;

/** The servers of one account, read once for all due acts; undefined if nothing could be read. */
type AccountSnapshot = ((id: ServerId) => ServerSnapshot) | undefined;

/**
 * Reads the list of one account once for all its due acts, and reports what is new. Uses the background's share of the limit
 * (docs/design.md 6.3). A failed read is tried again later.
 */
async function followAccount(
  hosting: HostingApi,
  acts: readonly TakenAct[],
  following: Following,
): Promise<void> {
  const snapshot = await look(hosting);
  await Promise.all(acts.map((act) => followSafely(act, snapshot, following)));
}

async function look(hosting: HostingApi): Promise<AccountSnapshot> {
  try {
    const { servers, extent } = await hosting.fetchServers({ urgency: 'background' });
    const byId = new Map(servers.map((server) => [server.id, server]));
    return (id) => ({ found: byId.get(id), isComplete: extent === 'whole' });
  } catch (error) {
    if (!isExpected(error)) throw error;
    return undefined;
  }
}

/** Sends the outcome of an act that needs no further look. */
async function followOver(act: TakenAct, following: Following): Promise<void> {
  await followSafely(act, undefined, following);
}

/** Ends the following of an act whose account is no longer connected: another key's servers prove nothing about it. */
async function followLost(act: TakenAct, following: Following): Promise<void> {
  const servers = act.servers.map((server) =>
    server.standing === 'waiting' ? { ...server, standing: 'unknown' as const } : server,
  );
  await followSafely({ ...act, servers }, undefined, following);
}

/** Finds the client of the act's account. `lost`: another key is connected, or none. Undefined: unknown for now. */
async function findAccountOf(act: TakenAct, app: AppContext): Promise<HostingApi | 'lost' | undefined> {
  try {
    return await getHostingOf(act, app);
  } catch (error) {
    if (isRefusal(error, 'account_changed') || isRefusal(error, 'no_api_key')) return 'lost';
    if (isExpected(error)) return undefined;
    throw error;
  }
}

async function followSafely(act: TakenAct, snapshot: AccountSnapshot, following: Following): Promise<void> {
  await follow(act, snapshot, following).catch((error: unknown) => {
    const { log } = following.app;
    log.warn('an act could not be followed', { actId: act.id, ...describeDefect(error) });
  });
}

async function follow(taken: TakenAct, snapshot: AccountSnapshot, following: Following): Promise<void> {
  const { app, clock, owner } = following;
  const seen = advance(taken, snapshot, clock.measure(taken));
  // A process that has lost the action to another one sends nothing.
  if (!(await save(seen, nextWait(seen), following))) return clock.forget(seen.id);
  const isDone = await report(seen, following);
  if (!isDone) return;
  clock.forget(seen.id);
  await app.followedActs.end(seen.id, owner);
}

function advance(
  act: TakenAct,
  snapshot: AccountSnapshot,
  { passedMs, isMeasured }: ReturnType<FollowClock['measure']>,
): TakenAct {
  const servers = act.servers.map((server) =>
    snapshot ? lookAt(server, act.action, snapshot(server.serverId), passedMs) : server,
  );
  return { ...act, servers, passedMs, isMeasured: act.isMeasured && isMeasured };
}

function nextWait({ passedMs }: FollowedAct): number {
  return Math.min(Math.max(passedMs / 4, SHORTEST_WAIT_MS), LONGEST_WAIT_MS);
}

/** Stores the act and makes it due again after `waitMs`. False if another process has taken it since. */
function save(act: FollowedAct, waitMs: number, { app, owner }: Following): Promise<boolean> {
  const now = app.system.now();
  return app.followedActs.save(act, { owner, now, until: now + LEASE_MS }, now + waitMs);
}

/** Sends what is new. True when nothing more has to be sent. */
async function report(act: TakenAct, following: Following): Promise<boolean> {
  const isFinal = isOver(act);
  if (!act.message) return isFinal && notifyActor(act, following);
  if (describeStanding(act) === act.told) return isFinal;
  const { app } = following;
  const updated = await app.followNotifier.update(await withApprover(act, app));
  switch (updated.kind) {
    case 'shown':
      return isFinal || !(await save(asReported(act), nextWait(act), following));
    case 'gone': {
      await app.actMessages.remove(act.id);
      const { message: _, ...unseen } = act;
      return isFinal && notifyActor(unseen, following);
    }
    case 'later':
      return !(await keepForLater(act, updated.afterMs, following));
  }
}

/** Adds the approver of a delete: its approval has the act's ID. */
async function withApprover(act: TakenAct, { approvals }: AppContext): Promise<TakenAct> {
  if (act.action !== 'delete') return act;
  const approval = await approvals.find(act.id);
  return { ...act, approvedBy: approval?.decidedBy ?? act.approvedBy };
}

const asReported = (act: TakenAct): TakenAct => ({ ...act, told: describeStanding(act) });

/** Schedules another try. False when it is too late to report the act. */
async function keepForLater(act: TakenAct, afterMs: number, following: Following): Promise<boolean> {
  const { app } = following;
  if (Math.abs(app.system.now() - act.since) > NOTIFY_MS) return false;
  const waitMs = Math.max(nextWait(act), Math.min(afterMs, 60_000));
  await save(act, waitMs, following);
  return true;
}

/**
 * Sends the outcome to the actor, unless they may no longer see the servers. Stores that it was sent first, so that a crash can
 * lose the message but never repeats it (docs/design.md 2.11). True when nothing more has to be sent.
 */
async function notifyActor(act: TakenAct, following: Following): Promise<boolean> {
  const { app, roles } = following;
  const standing = describeStanding(act);
  if (standing === act.told || !isNewsToActor(act)) return true;
  const maySee = await mayStillSee(act, roles);
  if (maySee === false) return true;
  if (maySee === 'unknown') return !(await keepForLater(act, LONGEST_WAIT_MS, following));
  if (!(await save(asReported(act), nextWait(act), following))) return false;
  if (await app.followNotifier.notifyActor(act)) return true;
  return !(await keepForLater(act, LONGEST_WAIT_MS, following));
}

async function mayStillSee(
  { workspaceId, actorId: userId, channelId, servers }: FollowedAct,
  roles: RoleCheck,
): Promise<boolean | 'unknown'> {
  // A workflow key acted: there is no user to notify.
  if (findKeyNameOf(userId) !== undefined) return false;
  const actor = { workspaceId, userId, channelId };
  try {
    const may = await Promise.all(servers.map(({ label }) => roles.hasRole(actor, 'viewer', label)));
    return may.every(Boolean);
  } catch (error) {
    if (isRefusal(error, 'identity_unknown')) return 'unknown';
    throw error;
  }
}

interface AcceptedPower {
  readonly server: Server;
  /** The state in the hosting API's answer. */
  readonly state?: string;
  readonly batch: { readonly actId?: string | undefined } | undefined;
  readonly keyGeneration: number;
}

/**
 * Follows a server after the hosting API has accepted a power action. Returns the act's ID; undefined where a single start or
 * stop has already reached its target state, or the act can't be stored. Never throws, since the action was carried out.
 */
export async function followPower(
  action: PowerAction,
  { server, state, batch, keyGeneration }: AcceptedPower,
  { actor, app }: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<string | undefined> {
  const isAtTarget = state !== undefined && isTargetState(action, { state });
  // A server that is still running right after its reboot was accepted may not have gone down yet.
  const isSettled = isAtTarget && action !== 'reboot';
  const { workspaceId, userId: actorId, channelId } = actor;
  const id = batch?.actId ?? app.system.newId();
  const act = { id, workspaceId, action, actorId, keyGeneration, channelId };
  if (isSettled && !batch) {
    await supersedeEarlier(act, server.id, app);
    return undefined;
  }
  const followed: FollowedServer = {
    serverId: server.id,
    label: server.label,
    standing: isSettled ? 'there' : 'waiting',
    hasChanged: hasChanged(action, server, state),
    state,
  };
  return (await startFollowing(act, followed, app, PLACE_WITHIN_MS)) ? id : undefined;
}

/**
 * Whether the state before the action or in its answer differs from the target. A reboot's target is usually the state before.
 */
function hasChanged(action: PowerAction, before: Server, state: string | undefined): boolean {
  if (state !== undefined && !isTargetState(action, { state })) return true;
  return !isTargetState(action, before);
}

/** Longest gap between two processes for which the wall clock is trusted. */
const LONGEST_GAP_MS = MINUTE_MS;

/** Measures how long acts were followed, on the monotonic clock, so that setting the wall clock changes nothing. */
interface FollowClock {
  /** `isMeasured` is false if no process was running for a while, or the clock was set while another process took over. */
  measure(act: TakenAct): { readonly passedMs: number; readonly isMeasured: boolean };
  forget(id: string): void;
}

function createFollowClock({ elapsed, now }: Pick<System, 'elapsed' | 'now'>): FollowClock {
  const looks = new Map<string, number>();
  return {
    measure: ({ id, passedMs, lookedAt }) => {
      const before = looks.get(id);
      const at = elapsed();
      looks.set(id, at);
      if (before !== undefined) return { passedMs: passedMs + at - before, isMeasured: true };
      const gapMs = now() - lookedAt;
      const isMeasured = gapMs >= 0 && gapMs <= LONGEST_GAP_MS;
      return { passedMs: passedMs + (isMeasured ? gapMs : 0), isMeasured };
    },
    forget: (id) => {
      looks.delete(id);
    },
  };
}

/** Finds the generation of the workspace's API key; 0 without a key. Acts are not followed under another key. */
export async function findKeyGeneration({
  actor,
  app,
}: Pick<UseCaseContext, 'actor' | 'app'>): Promise<number> {
  return (await app.apiKeys.find(actor.workspaceId))?.generation ?? 0;
}
