import type { ServerId, WorkspaceId } from '../core/ids.ts';
import { DAY_MS } from '../core/time.ts';
import type { Foundation, Queries } from '../db/database.ts';
import { addJob, changeJob, listJobs, removeJob } from '../db/jobs.ts';
import { createKept } from '../db/kept.ts';
import type { Card } from '../requests/request.ts';
import {
  describeStanding,
  type FollowedAct,
  type FollowedServer,
  type StartedAct,
  supersededBy,
} from './follow.ts';

/** The kind of job that follows an act until its servers have settled; its key is the act's ID. */
export const FOLLOW = 'follow';

/** What the job of a followed act carries. The channel's message is stored beside it, where the outbox finds it, too. */
export type FollowPayload = Omit<FollowedAct, 'id' | 'workspaceId' | 'message' | 'approvedBy'>;

interface Times {
  readonly now: number;
  /** When it is looked at first, or next. */
  readonly dueAt: number;
}

/** Where an action was announced, as far as that is known afterwards. */
interface ActPlace {
  /** The channel's message; absent if there is none. */
  readonly message?: Card | undefined;
  /** Where the actor acted, if in a thread. */
  readonly thread?: FollowedAct['thread'] | undefined;
}

/** How long the place of a message is kept. */
const MESSAGE_MS = DAY_MS;

export type FollowedActs = ReturnType<typeof createFollowedActs>;

/** What was done to servers, as jobs that follow them until they have settled. */
export function createFollowedActs(foundation: Foundation) {
  const { db, engine } = foundation;
  return {
    /** Adds a server to the act, once. What earlier acts did to the same server is superseded. */
    add: (started: StartedAct, server: FollowedServer, { now, dueAt }: Times): Promise<void> =>
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
    supersede: (act: Omit<StartedAct, 'account'>, serverId: ServerId): Promise<void> =>
      engine.transact(db, async (trx) => {
        await supersede(trx, await listActs(trx, act.workspaceId), act, serverId);
      }),
    place: (id: string, { message, thread }: ActPlace, { now, dueAt }: Times): Promise<void> =>
      engine.transact(db, async (trx) => {
        const [job] = await listJobs(trx, FOLLOW, undefined, id);
        if (!job) return;
        const { workspaceId } = job;
        const act = { ...(job.payload as FollowPayload), thread };
        const payload = { ...act, told: describeStanding(act) };
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
  { id, action, actorId }: Omit<StartedAct, 'account'>,
  serverId: ServerId,
): Promise<void> {
  const superseded = { by: actorId, action };
  for (const { id: earlier, act } of acts) {
    const isHit = (server: FollowedServer) => server.serverId === serverId && server.standing === 'waiting';
    if (earlier === id || !supersededBy(action).includes(act.action) || !act.servers.some(isHit)) continue;
    const servers = act.servers.map((server) =>
      isHit(server) ? { ...server, standing: 'superseded' as const, superseded } : server,
    );
    await changeJob(trx, FOLLOW, earlier, { ...act, servers });
  }
}
