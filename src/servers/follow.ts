import { getHostingOf } from '../account/keys.ts';
import type { AppContext } from '../context.ts';
import type { Entry, UseCaseContext } from '../core/entry.ts';
import { describeDefect, isExpected, isRefusal } from '../core/errors.ts';
import type { ChannelId, ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import { findKeyNameOf } from '../core/roles.ts';
import { isDeleted, isWhereLeads, POWER_ACTIONS, type PowerAction, type Server } from '../core/server.ts';
import { DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { HostingApi } from '../hosting/hosting-api.ts';
import type { Card } from '../requests/decision.ts';
import type { System } from '../system.ts';
import type { StartedAct, TakenAct } from './ports.ts';

/** What is followed until the server has settled. */
export const FOLLOWED_ACTIONS = [...POWER_ACTIONS, 'create', 'renew', 'delete'] as const;
export type FollowedAction = (typeof FOLLOWED_ACTIONS)[number];

/** Earlier actions whose outcome can no longer be observed after this one. A reboot doesn't hide the outcome of a renewal. */
export function supersededBy(action: FollowedAction): readonly FollowedAction[] {
  if (isPower(action)) return POWER_ACTIONS;
  return action === 'delete' ? [...POWER_ACTIONS, 'create', 'renew'] : [];
}

/** An action is followed for this long, and then called unfinished. */
export const FOLLOW_MS = 10 * MINUTE_MS;

/** A server's state after an action. `there`: where the action leads. `unknown`: its account can no longer be read. */
export const FOLLOWED_STANDINGS = ['waiting', 'there', 'gone', 'superseded', 'unknown'] as const;
export type FollowedStanding = (typeof FOLLOWED_STANDINGS)[number];

/** One server of an action, as far as it was seen since. */
export interface FollowedServer {
  readonly serverId: ServerId;
  readonly label: string;
  readonly standing: FollowedStanding;
  /** As the hosting API reported it last. */
  readonly state?: string;
  readonly ipv4?: string;
  /** Of a renewal: the date that the list has to show. Epoch milliseconds. */
  readonly paidUntil?: number;
  /** Whether the API has reported a state that is not where the act leads: only then has something happened. */
  readonly hasChanged: boolean;
  /** How long after the act it was seen where the act leads. */
  readonly settledMs?: number;
  /** Who has done what to it since. */
  readonly superseded?: { readonly by: UserId; readonly action: string };
}

/** What one user has done to one or several servers, and the message that reports the outcome. */
export interface FollowedAct {
  /** The message's: one act on several servers has one. For a purchase, its confirmation's. */
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  readonly action: FollowedAction;
  readonly actorId: UserId;
  readonly channelId?: ChannelId;
  /** Where the actor acted, if in a thread. */
  readonly thread?: { readonly ts: string; readonly isOpen: boolean };
  /** Which API key the workspace had: another one may open another account. */
  readonly keyGeneration: number;
  /** Of a delete that took a second person: who approved it. Looked up when the message is sent, not stored with the action. */
  readonly approvedBy?: UserId;
  /** Absent if no channel has a message: then only the actor gets one. */
  readonly message?: Card;
  /** Epoch milliseconds. */
  readonly since: number;
  /** For how long it was followed. */
  readonly passedMs: number;
  /** False if the duration is unknown, since no process was running. */
  readonly isMeasured: boolean;
  /** What was sent last (`describeStanding`). */
  readonly told: string;
  readonly servers: readonly FollowedServer[];
}

/** What a list shows of a server: undefined where it has none of that ID, which proves something only if it is complete. */
interface ServerSnapshot {
  readonly found: Server | undefined;
  readonly isComplete: boolean;
}

/** A reboot that was not observed counts as done if the server is still running after this long. */
const UNCHANGED_MS = 10_000;

/** The server as a look at it shows it, this long after the act. */
export function lookAt(
  server: FollowedServer,
  action: FollowedAction,
  { found, isComplete }: ServerSnapshot,
  passedMs: number,
): FollowedServer {
  if (server.standing !== 'waiting') return server;
  if (!found || isDeleted(found))
    return withoutServer(server, action, found !== undefined, isComplete, passedMs);
  const hasChanged = server.hasChanged || (isPower(action) && !isWhereLeads(action, found));
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
      return isWhereLeads('start', found) && found.ipv4 !== undefined;
    case 'renew':
      return found.paidUntil !== undefined && found.paidUntil >= (seen.paidUntil ?? found.paidUntil);
    case 'delete':
      return false;
    case 'reboot':
      return isWhereLeads(action, found) && (seen.hasChanged || passedMs >= UNCHANGED_MS);
    default:
      return isWhereLeads(action, found);
  }
}

export function isPower(action: FollowedAction): action is PowerAction {
  return POWER_ACTIONS.some((each) => each === action);
}

/** Whether nothing more will be looked for. */
function isOver({ servers, passedMs }: Pick<FollowedAct, 'servers' | 'passedMs'>): boolean {
  return passedMs >= FOLLOW_MS || servers.every(({ standing }) => standing !== 'waiting');
}

/** A short text that changes when there is something else to tell. */
export function describeStanding(act: Pick<FollowedAct, 'servers' | 'passedMs'>): string {
  const isLate = act.passedMs >= FOLLOW_MS;
  const isAlone = act.servers.length === 1;
  const parts = act.servers.map(({ serverId, standing, state = '', superseded }) => {
    const shownState = isAlone && standing === 'waiting' && !isLate ? '' : state;
    return [serverId, standing, shownState, superseded?.by, superseded?.action].filter(Boolean).join(' ');
  });
  return [isLate ? 'late' : 'on time', ...parts].join('; ');
}

/** Whether the actor, who was told what the hosting API answered, learns something from how it ended. */
function isNewsToActor({ action, servers }: Pick<FollowedAct, 'action' | 'servers'>): boolean {
  if (isPower(action) || action === 'create') return true;
  return servers.some(({ standing }) => standing !== 'there');
}

/** As long as it can take to post the announcement; then the actor gets a message, since the process that acted must have died. */
export const PLACE_WITHIN_MS = 2 * MINUTE_MS;
/** For when the place of the message is already known. */
const FIRST_LOOK_MS = 2000;

/** Follows a server that something was done to. False, and never an error, where that can't be stored: the act was done. */
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

/** The same for an action that has settled immediately: what is followed of earlier acts on the server ends. */
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
  /** Takes what is due, and looks at it aside: an account that doesn't answer must not hold up the others. @throws what the store throws */
  startRound(): Promise<void>;
  /** Resolves when the running looks have ended, and other processes can take the acts. */
  drain(): Promise<void>;
}

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
      // One that is still being looked at only has its lease renewed by that.
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

/** Workspaces with one key are one account. An action whose account can't be found now is due again when its lease ends. */
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

/** Reports to users how the servers of an action end up. Neither throws. */
export interface FollowNotifier {
  /** Shows the act's current state in the channel's message. */
  update(act: FollowedAct): Promise<Updated>;
  /** Reports the outcome to the actor alone. False if Slack accepted no message. */
  notifyActor(act: FollowedAct): Promise<boolean>;
}

export type Updated =
  | { readonly kind: 'shown' }
  /** It was deleted, or must not be shown there any more. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'later'; readonly afterMs: number };
/** Whether the actor may still see the servers. */
type RoleCheck = Pick<Entry, 'hasRole'>;

interface Following {
  readonly app: AppContext;
  readonly roles: RoleCheck;
  readonly clock: FollowClock;
  /** This process. */
  readonly owner: string;
}

/** After this long, another process takes over the acts of a crashed one. */
const LEASE_MS = 30_000;
/** Quick at first: most servers settle within seconds. */
const SHORTEST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 15_000;
/** How long a message that can't be sent is retried. */
const NOTIFY_MS = DAY_MS;

/** The servers of one account, read once for all acts that are due. */
type AccountSnapshot = ((id: ServerId) => ServerSnapshot) | undefined;

/**
 * Looks once at the servers of acts of one account, and reports what is new. Reads one list, within the background's share of
 * the account's limit (docs/design.md 6.3). Never throws: what fails is tried again.
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

/** Nothing more is looked for: only the outcome has to be sent. */
async function followOver(act: TakenAct, following: Following): Promise<void> {
  await followSafely(act, undefined, following);
}

/** Another key was connected since: its servers are not those of the act. */
async function followLost(act: TakenAct, following: Following): Promise<void> {
  const servers = act.servers.map((server) =>
    server.standing === 'waiting' ? { ...server, standing: 'unknown' as const } : server,
  );
  await followSafely({ ...act, servers }, undefined, following);
}

/** The client of the account that an action was done in; `lost` when another one is connected, or none. */
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

/** Makes it due again after that time. False if another process has taken it since. */
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

/** Who approved a delete, where one had to: its approval has the act's ID. */
async function withApprover(act: TakenAct, { approvals }: AppContext): Promise<TakenAct> {
  if (act.action !== 'delete') return act;
  const approval = await approvals.find(act.id);
  return { ...act, approvedBy: approval?.decidedBy ?? act.approvedBy };
}

const asReported = (act: TakenAct): TakenAct => ({ ...act, told: describeStanding(act) });

/** False when it is too late to report it. */
async function keepForLater(act: TakenAct, afterMs: number, following: Following): Promise<boolean> {
  const { app } = following;
  if (Math.abs(app.system.now() - act.since) > NOTIFY_MS) return false;
  const waitMs = Math.max(nextWait(act), Math.min(afterMs, 60_000));
  await save(act, waitMs, following);
  return true;
}

/** Once: what a crash interrupts is not sent twice. Users who may no longer see the server get nothing. */
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
  // There is no user to send it to.
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
  /** As the answer reports it. */
  readonly state?: string;
  readonly batch: { readonly actId?: string | undefined } | undefined;
  /** Which API key the workspace had. */
  readonly keyGeneration: number;
}

/**
 * Follows a server as soon as the hosting API has accepted a power action. Undefined where there is nothing to wait for: a
 * start or a stop whose answer reports where it leads. Never throws: the action was carried out.
 */
export async function followPower(
  action: PowerAction,
  { server, state, batch, keyGeneration }: AcceptedPower,
  { actor, app }: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<string | undefined> {
  const isAtTarget = state !== undefined && isWhereLeads(action, { state });
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

/** A server that was not where the action leads has changed once it is there; a reboot leads to where it was. */
function hasChanged(action: PowerAction, before: Server, state: string | undefined): boolean {
  if (state !== undefined && !isWhereLeads(action, { state })) return true;
  return !isWhereLeads(action, before);
}

/** Between two processes there is only the wall clock, which is trusted for gaps up to this long. */
const LONGEST_GAP_MS = MINUTE_MS;

/** Measures for how long acts were followed: on the monotonic clock, so that a wall clock that was set changes nothing. */
interface FollowClock {
  /** `isMeasured` is false where no process was running, or the clock was set while one took over from another. */
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

/** Which API key the workspace has: what is followed under it is not looked for under another one. */
export async function findKeyGeneration({
  actor,
  app,
}: Pick<UseCaseContext, 'actor' | 'app'>): Promise<number> {
  return (await app.apiKeys.find(actor.workspaceId))?.generation ?? 0;
}
