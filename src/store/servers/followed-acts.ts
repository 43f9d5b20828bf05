import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { FollowedActs, FollowLease, StartedAct } from '../../app/servers/ports.ts';
import {
  describeStanding,
  FOLLOWED_ACTIONS,
  type FollowedAct,
  supersededBy,
} from '../../domain/followed-act.ts';
import type { ServerId } from '../../domain/ids.ts';
import { DAY_MS, MINUTE_MS } from '../../domain/time.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import type { Engine } from '../engine/engine.ts';
import type { FollowedActRow } from '../engine/follow-tables.ts';
import type { Tables } from '../engine/tables.ts';
import { columnsOfServer, toAct } from './followed-rows.ts';

/** Longer than anything here waits: what is due or leased until later was written before the clock was set back. */
const LATEST_MS = 5 * MINUTE_MS;
/** Of a message that is no longer needed. */
const MESSAGE_MS = DAY_MS;

/** What is followed, with a lease for the process that follows it. The lease of a crashed process expires. */
export function createFollowedActs(foundation: Foundation): FollowedActs {
  const { db, engine } = foundation;
  return {
    add: (act, server, times) => engine.transact(db, (trx) => add(trx, engine, act, server, times)),
    supersede: (act, serverId) => supersede(db, act, serverId),
    place: (id, place, times) => engine.transact(db, (trx) => putPlace(trx, engine, id, place, times)),
    forget: async (id) => {
      await engine.transact(db, (trx) => end(trx, id, ''));
    },
    take: async (lease, limit) => {
      const rows = await takeDue(foundation, lease, limit);
      return withServers(db, rows);
    },
    save: (act, lease, dueAt) => engine.transact(db, (trx) => save(trx, engine, act, lease, dueAt)),
    end: (id, owner) => engine.transact(db, (trx) => end(trx, id, owner)),
    release: async (owner) => {
      await db
        .updateTable('followed_acts')
        .set({ lease_owner: '', lease_until: 0, due_at: 0 })
        .where('lease_owner', '=', owner)
        .execute();
    },
  };
}

async function add(
  trx: Queries,
  engine: Engine,
  ...[act, server, { now, dueAt }]: Parameters<FollowedActs['add']>
): Promise<void> {
  const { id, workspaceId, action, actorId, channelId, keyGeneration } = act;
  const due = engine.moment(dueAt, now);
  const told = describeStanding({ servers: [server], passedMs: 0 });
  await trx
    .insertInto('followed_acts')
    .values({
      ...{ id, workspace_id: workspaceId, action, actor_id: actorId, channel_id: channelId ?? null },
      ...{ thread_ts: null, is_thread_open: 0, key_generation: keyGeneration },
      ...{ since: now, looked_at: now, passed_ms: 0, is_measured: 1, told },
      ...{ due_at: due, lease_owner: '', lease_until: 0 },
    })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ due_at: due }))
    .execute();
  await supersede(trx, act, server.serverId);
  const { count } = await trx
    .selectFrom('followed_servers')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('act_id', '=', id)
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('followed_servers')
    .values({
      ...{ act_id: id, server_id: server.serverId, workspace_id: workspaceId, place: Number(count) },
      ...columnsOfServer(server),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The outcome of earlier actions on the server can no longer be found out. */
async function supersede(
  trx: Queries,
  { id, workspaceId, action, actorId }: Omit<StartedAct, 'keyGeneration'>,
  serverId: ServerId,
): Promise<void> {
  const actions = supersededBy(action);
  if (actions.length === 0) return;
  await trx
    .updateTable('followed_servers')
    .set({ standing: 'superseded', superseded_by: actorId, superseded_action: action })
    .where('workspace_id', '=', workspaceId)
    .where('server_id', '=', serverId)
    .where('act_id', '!=', id)
    .where('act_id', 'in', (query) =>
      query.selectFrom('followed_acts').select('id').where('action', 'in', actions),
    )
    .where('standing', '=', 'waiting')
    .execute();
}

async function putPlace(
  trx: Queries,
  engine: Engine,
  ...[id, { message, thread }, { now, dueAt }]: Parameters<FollowedActs['place']>
): Promise<void> {
  const row = await trx
    .updateTable('followed_acts')
    .set({
      ...{ thread_ts: thread?.ts ?? null, is_thread_open: thread?.isOpen ? 1 : 0 },
      due_at: engine.moment(dueAt, now),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  if (!row) return;
  const [act] = await withServers(trx, [row]);
  if (act)
    await trx
      .updateTable('followed_acts')
      .set({ told: describeStanding(act) })
      .where('id', '=', id)
      .execute();
  if (!message) return;
  const place = { channel_id: message.channelId, ts: message.ts, until: now + MESSAGE_MS };
  await trx
    .insertInto('act_messages')
    .values({ id, workspace_id: row.workspace_id, ...place })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(place))
    .execute();
}

/** One statement finds and takes. */
async function takeDue(
  { db, engine }: Foundation,
  { owner, now, until }: FollowLease,
  limit: number,
): Promise<readonly FollowedActRow[]> {
  const end = engine.moment(until, now);
  return db
    .updateTable('followed_acts')
    .set({ lease_owner: owner, lease_until: end, due_at: end })
    .where((column) => isFree(column, engine, owner, now))
    .where('id', 'in', (query) =>
      query
        .selectFrom('followed_acts')
        .select('id')
        .where((column) => isDue(column, engine, now))
        .where((column) => isFree(column, engine, owner, now))
        .where('action', 'in', FOLLOWED_ACTIONS)
        .orderBy('due_at')
        .limit(limit)
        .$if(engine.skipsLockedRows, (rows) => rows.forUpdate().skipLocked()),
    )
    .returningAll()
    .execute();
}

type Columns = ExpressionBuilder<Tables, 'followed_acts'>;

function isDue(column: Columns, engine: Engine, now: number): Expression<SqlBool> {
  return column.or([
    column('due_at', '<=', engine.moment(now, now)),
    column('due_at', '>', engine.moment(now + LATEST_MS, now)),
  ]);
}

function isFree(column: Columns, engine: Engine, owner: string, now: number): Expression<SqlBool> {
  return column.or([
    column('lease_until', '<=', engine.moment(now, now)),
    column('lease_until', '>', engine.moment(now + LATEST_MS, now)),
    column('lease_owner', '=', owner),
  ]);
}

async function withServers(db: Queries, rows: readonly FollowedActRow[]) {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const servers = await db
    .selectFrom('followed_servers')
    .selectAll()
    .where('act_id', 'in', ids)
    .orderBy('place')
    .execute();
  const messages = await db.selectFrom('act_messages').selectAll().where('id', 'in', ids).execute();
  return rows.map((row) =>
    toAct(
      row,
      servers.filter(({ act_id }) => act_id === row.id),
      messages.find(({ id }) => id === row.id),
    ),
  );
}

async function save(
  trx: Queries,
  engine: Engine,
  { id, passedMs, isMeasured, told, servers }: FollowedAct,
  { owner, now, until }: FollowLease,
  dueAt: number,
): Promise<boolean> {
  const saved = await trx
    .updateTable('followed_acts')
    .set({
      ...{ passed_ms: Math.round(passedMs), is_measured: isMeasured ? 1 : 0, told, looked_at: now },
      ...{ due_at: engine.moment(dueAt, now), lease_until: engine.moment(until, now) },
    })
    .where('id', '=', id)
    .where('lease_owner', '=', owner)
    .returning('id')
    .executeTakeFirst();
  if (!saved) return false;
  for (const server of servers)
    await trx
      .updateTable('followed_servers')
      .set(columnsOfServer(server))
      .where('act_id', '=', id)
      .where('server_id', '=', server.serverId)
      // What has superseded it since stays.
      .where('standing', '=', 'waiting')
      .execute();
  return true;
}

async function end(trx: Queries, id: string, owner: string): Promise<boolean> {
  const ended = await trx
    .deleteFrom('followed_acts')
    .where('id', '=', id)
    .where('lease_owner', '=', owner)
    .returning('id')
    .executeTakeFirst();
  if (!ended) return false;
  await trx.deleteFrom('followed_servers').where('act_id', '=', id).execute();
  await trx.deleteFrom('act_messages').where('id', '=', id).execute();
  return true;
}
