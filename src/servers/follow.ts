import { getHostingOf } from '../account/keys.ts';
import type { AppContext } from '../context.ts';
import { describeDefect, isExpected, isRefusal } from '../core/errors.ts';
import type { ChannelId, PostedMessage, ServerId, Thread, UserId, WorkspaceId } from '../core/ids.ts';
import { hasRole } from '../core/permission.ts';
import { findKeyNameOf } from '../core/roles.ts';
import { isDeleted, isTargetState, POWER_ACTIONS, type PowerAction, type Server } from '../core/server.ts';
import { DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { Foundation, Queries } from '../db/database.ts';
import { addJob, changeJob, type Job, type JobHandler, listJobs, removeJob } from '../db/jobs.ts';
import { createKept } from '../db/kept.ts';
import type { HostingApi } from '../hosting/hosting-api.ts';

/** The actions after which a server is followed until it has settled (docs/design.md 2.11). */
export const FOLLOWED_ACTIONS = [...POWER_ACTIONS, 'create', 'renew', 'delete'] as const;
export type FollowedAction = (typeof FOLLOWED_ACTIONS)[number];

/** Lists the earlier actions whose outcome this one hides. A reboot doesn't hide the outcome of a renewal. */
function supersededBy(action: FollowedAction): readonly FollowedAction[] {
  if (isPower(action)) return POWER_ACTIONS;
  return action === 'delete' ? [...POWER_ACTIONS, 'create', 'renew'] : [];
}

/** How long an action is followed before it is called unfinished. */
export const FOLLOW_MS = 10 * MINUTE_MS;

/**
 * What is known of a followed server. `there`: as the action should leave it. `superseded`: a later action hides the outcome.
 * `unknown`: its account can no longer be read.
 */
export const FOLLOWED_STANDINGS = ['waiting', 'there', 'gone', 'superseded', 'unknown'] as const;
type FollowedStanding = (typeof FOLLOWED_STANDINGS)[number];

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
}

/** An action by one user on one or several servers. */
export interface StartedAct {
  /** One for all servers of the act. For a purchase or a deletion, the ID of its confirmation. */
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  readonly action: FollowedAction;
  readonly actorId: UserId;
  readonly channelId?: ChannelId;
  /** A name of the workspace's key at the act: another key may open another account. */
  readonly account: string;
}

/** An action whose servers are followed, and the message that reports the outcome. */
export interface FollowedAct extends StartedAct {
  readonly servers: readonly FollowedServer[];
  /** The approver of a delete. Looked up when the message is sent, not stored with the act. */
  readonly approvedBy?: UserId;
  readonly thread?: Thread;
  /** The channel's message; absent if there is none, and only the actor gets one. */
  readonly message?: PostedMessage;
  /** Epoch milliseconds. */
  readonly since: number;
  /** When it was looked at last; epoch milliseconds. */
  readonly lookedAt: number;
  /** Milliseconds for which it was followed. */
  readonly passedMs: number;
  /** False if nobody looked for a while, or the clock was set. */
  readonly isMeasured: boolean;
  /** `describeStanding` of what was sent last. */
  readonly told: string;
}

/** A reboot that was not observed counts as done if the server is still running after this long. */
const UNCHANGED_MS = 10_000;

/**
 * Updates a followed server from a list that was read `passedMs` after the act; one that no longer waits stays as it is. That it
 * isn't found proves something only if the list is complete.
 */
export function lookAt(
  server: FollowedServer,
  action: FollowedAction,
  { found, isComplete }: { readonly found: Server | undefined; readonly isComplete: boolean },
  passedMs: number,
): FollowedServer {
  if (server.standing !== 'waiting') return server;
  if (!found && !isComplete) return server;
  if (!found || isDeleted(found)) {
    if (action === 'delete') return { ...server, standing: 'there', settledMs: passedMs };
    // A new server may take a moment to be listed.
    return action === 'create' && !found ? server : { ...server, standing: 'gone' };
  }
  const hasChanged = server.hasChanged || (isPower(action) && !isTargetState(action, found));
  const ipv4 = found.ipv4 ?? server.ipv4;
  const seen = { ...server, state: found.state, hasChanged, ipv4 };
  if (!hasSettled(seen, action, found, passedMs)) return seen;
  const paidUntil = found.paidUntil ?? seen.paidUntil;
  return { ...seen, paidUntil, standing: 'there', settledMs: passedMs };
}

function hasSettled(seen: FollowedServer, action: FollowedAction, found: Server, passedMs: number): boolean {
  switch (action) {
    case 'create':
      return isTargetState('start', found) && found.ipv4 !== undefined;
    case 'renew':
      return (found.paidUntil ?? 0) >= (seen.paidUntil ?? Number.POSITIVE_INFINITY);
    case 'delete':
      return false;
    case 'reboot':
      return isTargetState(action, found) && (seen.hasChanged || passedMs >= UNCHANGED_MS);
    default:
      return isTargetState(action, found);
  }
}

export function isPower(action: FollowedAction): action is PowerAction {
  return POWER_ACTIONS.some((each) => each === action);
}

export function isOver({ servers, passedMs }: FollowedAct): boolean {
  return passedMs >= FOLLOW_MS || servers.every(({ standing }) => standing !== 'waiting');
}

/** Fingerprint of what a message about the act says. Compare two values to detect news. */
function describeStanding(act: {
  readonly servers: readonly FollowedServer[];
  readonly passedMs: number;
}): string {
  const isLate = act.passedMs >= FOLLOW_MS;
  const isAlone = act.servers.length === 1;
  const parts = act.servers.map(({ serverId, standing, state = '' }) => {
    const shownState = isAlone && standing === 'waiting' && !isLate ? '' : state;
    return [serverId, standing, shownState].filter(Boolean).join(' ');
  });
  return [isLate ? 'late' : 'on time', ...parts].join('; ');
}

/** Whether the outcome is news to the actor, who already knows the hosting API's answer. */
function isNewsToActor({ action, servers }: FollowedAct): boolean {
  if (isPower(action) || action === 'create') return true;
  return servers.some(({ standing }) => standing !== 'there');
}

/** Longest time to post an announcement. After it, the process that acted must have died, and the actor gets a message. */
export const PLACE_WITHIN_MS = 2 * MINUTE_MS;
/** First look at an act whose message is already posted: until then, whoever posted it reports the outcome. */
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

/** What became of an edit of the channel's message. */
export type Updated =
  | { readonly kind: 'shown' }
  /** The message was deleted, or must not be shown there any more. */
  | { readonly kind: 'gone' }
  /** Nothing was sent, or Slack didn't accept it. Try again with what is true by then. */
  | { readonly kind: 'later'; readonly afterMs: number };

interface Following {
  readonly app: AppContext;
  readonly job: Job;
}

/** Quick at first: most servers settle within seconds. */
const SHORTEST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 15_000;
/** How long a message that can't be sent is retried. */
const NOTIFY_MS = DAY_MS;

/**
 * Creates what follows acts, by the jobs that `followedActs` adds: looks at the servers, reports what is new, and says when to look
 * again. Reads share one list of the account, within the background's share of its limit (docs/design.md 6.3).
 */
export function createFollower(app: AppContext): JobHandler {
  return async (job) => {
    const act = { ...(job.payload as FollowPayload), id: job.key, workspaceId: job.workspaceId };
    const message = await app.kept.find('message', job.key);
    const waitMs = await follow({ ...act, message }, { app, job });
    return waitMs === undefined ? undefined : app.system.now() + waitMs;
  };
}

/** After a longer gap between two looks, no process was running, or the clock was set: then the gap counts as no time. */
const LONGEST_GAP_MS = 2 * MINUTE_MS;

/** Looks once, and reports what is new. Returns for how long to wait then; undefined when nothing more has to be sent. */
async function follow(act: FollowedAct, following: Following): Promise<number | undefined> {
  const { app } = following;
  const gapMs = app.system.now() - act.lookedAt;
  const isContinuous = gapMs >= 0 && gapMs <= LONGEST_GAP_MS;
  const passed = {
    ...act,
    passedMs: act.passedMs + (isContinuous ? gapMs : 0),
    isMeasured: act.isMeasured && isContinuous,
  };
  const seen = isOver(act) ? passed : await look(passed, app);
  // If the job was asked for again in the meantime, or belongs to another process by now, that one reports it.
  if (!(await save(seen, following))) return undefined;
  return report(seen, following);
}

async function look(act: FollowedAct, app: AppContext): Promise<FollowedAct> {
  const hosting = await findAccountOf(act, app);
  // Another key's servers prove nothing about it.
  if (hosting === 'lost') {
    const servers = act.servers.map((server) =>
      server.standing === 'waiting' ? { ...server, standing: 'unknown' as const } : server,
    );
    return { ...act, servers };
  }
  const list = await hosting?.fetchServers({ urgency: 'background' }).catch((error: unknown) => {
    if (!isExpected(error)) throw error;
    return undefined;
  });
  if (!list) return act;
  const byId = new Map(list.servers.map((server) => [server.id, server]));
  const isComplete = list.extent === 'whole';
  const servers = act.servers.map((one) =>
    lookAt(one, act.action, { found: byId.get(one.serverId), isComplete }, act.passedMs),
  );
  return { ...act, servers };
}

/** Finds the client of the act's account. `lost`: another key is connected, or none. Undefined: unknown for now. */
async function findAccountOf(act: FollowedAct, app: AppContext): Promise<HostingApi | 'lost' | undefined> {
  try {
    return await getHostingOf(act, app);
  } catch (error) {
    if (isRefusal(error, 'account_changed') || isRefusal(error, 'no_api_key')) return 'lost';
    if (isExpected(error)) return undefined;
    throw error;
  }
}

function nextWait({ passedMs }: FollowedAct): number {
  return Math.min(Math.max(passedMs / 4, SHORTEST_WAIT_MS), LONGEST_WAIT_MS);
}

/** Stores what was seen and sent. False if the act was asked for again, or another process has taken it since. */
function save({ id: _id, workspaceId: _, message: __, ...act }: FollowedAct, { app, job }: Following) {
  const payload: FollowPayload = { ...act, lookedAt: app.system.now() };
  return app.jobs.save(job, payload);
}

/** Sends what is new. Returns for how long to wait then; undefined when nothing more has to be sent. */
async function report(act: FollowedAct, following: Following): Promise<number | undefined> {
  const { app } = following;
  const isFinal = isOver(act);
  const next = isFinal ? undefined : nextWait(act);
  if (!act.message) return isFinal ? notifyActor(act, following) : next;
  if (describeStanding(act) === act.told) return next;
  // The approval of a delete has the act's ID.
  const approval = act.action === 'delete' ? await app.requests.find(act.id, ['delete']) : undefined;
  const updated = await app.followNotifier.update({ ...act, approvedBy: approval?.decidedBy });
  switch (updated.kind) {
    case 'shown':
      if (await save(asReported(act), following)) await notifyCreator(act, following);
      return next;
    case 'gone':
      await app.kept.remove('message', act.id);
      return isFinal ? notifyActor(act, following) : next;
    case 'later':
      return waitForSlack(act, updated.afterMs, app);
  }
}

const asReported = (act: FollowedAct): FollowedAct => ({ ...act, told: describeStanding(act) });

/** How long to wait for Slack; undefined when it is too late to report the act. */
function waitForSlack(act: FollowedAct, afterMs: number, { system }: AppContext): number | undefined {
  if (Math.abs(system.now() - act.since) > NOTIFY_MS) return undefined;
  return Math.max(nextWait(act), Math.min(afterMs, 60_000));
}

/**
 * Sends the outcome to the actor, unless they may no longer see the servers. Stores that it was sent first, so that a crash can
 * lose the message but never repeats it (docs/design.md 2.11). Returns for how long to wait; undefined when it was sent.
 */
async function notifyActor(act: FollowedAct, following: Following): Promise<number | undefined> {
  const { app } = following;
  if (describeStanding(act) === act.told || !isNewsToActor(act)) return undefined;
  const maySee = await mayStillSee(act, app);
  if (maySee === false) return undefined;
  if (maySee === 'unknown') return waitForSlack(act, LONGEST_WAIT_MS, app);
  if (!(await save(asReported(act), following))) return undefined;
  if (await app.followNotifier.notifyActor(act)) return undefined;
  await save(act, following);
  return waitForSlack(act, LONGEST_WAIT_MS, app);
}

/** Tells the creator how to log in, once the channel's message says that the server is ready. */
async function notifyCreator(act: FollowedAct, { app }: Following): Promise<void> {
  if (act.action !== 'create' || act.servers.some(({ standing }) => standing !== 'there')) return;
  if ((await mayStillSee(act, app)) === true) await app.followNotifier.notifyCreator(act);
}

async function mayStillSee(
  { workspaceId, actorId: userId, channelId, servers }: FollowedAct,
  app: AppContext,
): Promise<boolean | 'unknown'> {
  // A workflow key acted: there is no user to notify.
  if (findKeyNameOf(userId) !== undefined) return false;
  const actor = { workspaceId, userId, channelId };
  try {
    const may = await Promise.all(servers.map(({ label }) => hasRole(actor, 'viewer', label, app)));
    return may.every(Boolean);
  } catch (error) {
    if (isRefusal(error, 'identity_unknown')) return 'unknown';
    throw error;
  }
}

/** The kind of job that follows an act until its servers have settled; its key is the act's ID. */
export const FOLLOW = 'follow';

/** What the job of a followed act carries. The channel's message is stored beside it, where the outbox finds it, too. */
export type FollowPayload = Omit<FollowedAct, 'id' | 'workspaceId' | 'message' | 'approvedBy'>;

/** How long the place of a message is kept. */
const MESSAGE_MS = DAY_MS;

export type FollowedActs = ReturnType<typeof createFollowedActs>;

/** What was done to servers, as jobs that follow them until they have settled. */
export function createFollowedActs(foundation: Foundation) {
  const { db, engine } = foundation;
  return {
    /** Adds a server to the act, once. What earlier acts did to the same server is superseded. */
    add: (
      started: StartedAct,
      server: FollowedServer,
      { now, dueAt }: { readonly now: number; readonly dueAt: number },
    ): Promise<void> =>
      engine.transact(db, async (trx) => {
        const { id, workspaceId, ...facts } = started;
        const acts = await listActs(trx, workspaceId);
        await supersede(trx, acts, started, server.serverId);
        const before = acts.find((each) => each.id === id)?.act;
        if (before?.servers.some(({ serverId }) => serverId === server.serverId)) return;
        const told = describeStanding({ servers: [server], passedMs: 0 });
        const fresh: FollowPayload = {
          ...facts,
          since: now,
          lookedAt: now,
          passedMs: 0,
          isMeasured: true,
          told,
          servers: [],
        };
        const act = before ?? fresh;
        const payload: FollowPayload = { ...act, servers: [...act.servers, server] };
        await addJob(trx, foundation, { kind: FOLLOW, key: id, workspaceId, payload, dueAt });
      }),
    /** Ends what earlier actions on the server are followed for, after one that needs no following. */
    supersede: (act: Pick<StartedAct, 'id' | 'workspaceId' | 'action'>, serverId: ServerId): Promise<void> =>
      engine.transact(db, async (trx) => {
        await supersede(trx, await listActs(trx, act.workspaceId), act, serverId);
      }),
    /** Stores the channel's message and where the actor acted, as far as there is one. From then on, the act is looked at. */
    place: (
      id: string,
      { message, thread }: Pick<FollowedAct, 'message' | 'thread'>,
      now: number,
    ): Promise<void> =>
      engine.transact(db, async (trx) => {
        const [job] = await listJobs(trx, FOLLOW, undefined, id);
        if (!job) return;
        const { workspaceId } = job;
        const act = { ...(job.payload as FollowPayload), thread };
        const payload = { ...act, told: describeStanding(act) };
        const dueAt = now + FIRST_LOOK_MS;
        await addJob(trx, foundation, { kind: FOLLOW, key: id, workspaceId, payload, dueAt });
        if (message) await createKept({ db: trx }).put('message', id, workspaceId, message, now + MESSAGE_MS);
      }),
    forget: (id: string): Promise<void> => removeJob(db, FOLLOW, id),
  };
}

async function listActs(db: Queries, workspaceId: WorkspaceId) {
  const jobs = await listJobs(db, FOLLOW, workspaceId);
  return jobs.map(({ key, payload }) => ({ id: key, act: payload as FollowPayload }));
}

type Acts = Awaited<ReturnType<typeof listActs>>;

/** The outcome of earlier actions on the server can no longer be found out. A process that looks at one now drops what it saw. */
async function supersede(
  trx: Queries,
  acts: Acts,
  { id, action }: { readonly id: string; readonly action: FollowedAction },
  serverId: ServerId,
): Promise<void> {
  for (const { id: earlier, act } of acts) {
    const isHit = (server: FollowedServer) => server.serverId === serverId && server.standing === 'waiting';
    if (earlier === id || !supersededBy(action).includes(act.action) || !act.servers.some(isHit)) continue;
    const servers = act.servers.map((server) =>
      isHit(server) ? { ...server, standing: 'superseded' as const } : server,
    );
    await changeJob(trx, FOLLOW, earlier, { ...act, servers });
  }
}
