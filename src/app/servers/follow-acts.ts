import { findKeyNameOf } from '../../domain/actor.ts';
import { describeDefect, isExpected, isRefusal } from '../../domain/errors.ts';
import {
  describeStanding,
  type FollowedAct,
  isNewsToActor,
  isOver,
  lookAt,
  type Sight,
} from '../../domain/followed-act.ts';
import type { ServerId } from '../../domain/ids.ts';
import { DAY_MS } from '../../domain/time.ts';
import { getHostingOf } from '../account/confirmed-account.ts';
import type { Entry } from '../authorize/entry.ts';
import type { HostingApi } from '../hosting-api.ts';
import type { AppContext } from '../ports.ts';
import type { FollowClock } from './follow-clock.ts';
import type { TakenAct } from './ports.ts';

/** Reports to users how the servers of an action end up. Neither throws. */
export interface FollowNotifier {
  /** Shows the act's current state in the channel's message. */
  update(act: FollowedAct): Promise<Updated>;
  /** Reports the outcome to the actor alone. False if Slack accepted no message. */
  tellActor(act: FollowedAct): Promise<boolean>;
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
export const LEASE_MS = 30_000;
/** Quick at first: most servers settle within seconds. */
const SHORTEST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 15_000;
/** How long a message that can't be sent is retried. */
const TELL_MS = DAY_MS;

/** The servers of one account, read once for all acts that are due. */
type Sights = ((id: ServerId) => Sight) | undefined;

/**
 * Looks once at the servers of acts of one account, and reports what is new. Reads one list, within the background's share of
 * the account's limit (docs/design.md 6.3). Never throws: what fails is tried again.
 */
export async function followAccount(
  hosting: HostingApi,
  acts: readonly TakenAct[],
  following: Following,
): Promise<void> {
  const sights = await look(hosting);
  await Promise.all(acts.map((act) => followSafely(act, sights, following)));
}

async function look(hosting: HostingApi): Promise<Sights> {
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
export async function tellOver(act: TakenAct, following: Following): Promise<void> {
  await followSafely(act, undefined, following);
}

/** Another key was connected since: its servers are not those of the act. */
export async function followLost(act: TakenAct, following: Following): Promise<void> {
  const servers = act.servers.map((server) =>
    server.standing === 'waiting' ? { ...server, standing: 'unknown' as const } : server,
  );
  await followSafely({ ...act, servers }, undefined, following);
}

/** The client of the account that an action was done in; `lost` when another one is connected, or none. */
export async function findAccountOf(
  act: TakenAct,
  app: AppContext,
): Promise<HostingApi | 'lost' | undefined> {
  try {
    return await getHostingOf(act, app);
  } catch (error) {
    if (isRefusal(error, 'account_changed') || isRefusal(error, 'no_api_key')) return 'lost';
    if (isExpected(error)) return undefined;
    throw error;
  }
}

async function followSafely(act: TakenAct, sights: Sights, following: Following): Promise<void> {
  await follow(act, sights, following).catch((error: unknown) => {
    const { log } = following.app;
    log.warn('an act could not be followed', { actId: act.id, ...describeDefect(error) });
  });
}

async function follow(taken: TakenAct, sights: Sights, following: Following): Promise<void> {
  const { app, clock, owner } = following;
  const seen = advance(taken, sights, clock.measure(taken));
  // A process that has lost the action to another one sends nothing.
  if (!(await save(seen, nextWait(seen), following))) return clock.forget(seen.id);
  const isDone = await tell(seen, following);
  if (!isDone) return;
  clock.forget(seen.id);
  await app.followedActs.end(seen.id, owner);
}

function advance(
  act: TakenAct,
  sights: Sights,
  { passedMs, isMeasured }: ReturnType<FollowClock['measure']>,
): TakenAct {
  const servers = act.servers.map((server) =>
    sights ? lookAt(server, act.action, sights(server.serverId), passedMs) : server,
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
async function tell(act: TakenAct, following: Following): Promise<boolean> {
  const isFinal = isOver(act);
  if (!act.message) return isFinal && tellActor(act, following);
  if (describeStanding(act) === act.told) return isFinal;
  const { app } = following;
  const updated = await app.followNotifier.update(await withApprover(act, app));
  switch (updated.kind) {
    case 'shown':
      return isFinal || !(await save(told(act), nextWait(act), following));
    case 'gone': {
      await app.actMessages.remove(act.id);
      const { message: _, ...unseen } = act;
      return isFinal && tellActor(unseen, following);
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

const told = (act: TakenAct): TakenAct => ({ ...act, told: describeStanding(act) });

/** False when it is too late to report it. */
async function keepForLater(act: TakenAct, afterMs: number, following: Following): Promise<boolean> {
  const { app } = following;
  if (Math.abs(app.system.now() - act.since) > TELL_MS) return false;
  const waitMs = Math.max(nextWait(act), Math.min(afterMs, 60_000));
  await save(act, waitMs, following);
  return true;
}

/** Once: what a crash interrupts is not sent twice. Users who may no longer see the server get nothing. */
async function tellActor(act: TakenAct, following: Following): Promise<boolean> {
  const { app, roles } = following;
  const standing = describeStanding(act);
  if (standing === act.told || !isNewsToActor(act)) return true;
  const maySee = await mayStillSee(act, roles);
  if (maySee === false) return true;
  if (maySee === 'unknown') return !(await keepForLater(act, LONGEST_WAIT_MS, following));
  if (!(await save(told(act), nextWait(act), following))) return false;
  if (await app.followNotifier.tellActor(act)) return true;
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
