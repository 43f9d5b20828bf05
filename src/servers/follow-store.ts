import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { ServerId } from '../core/ids.ts';
import { DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { Foundation, Queries } from '../db/database.ts';
import { type Engine, keepPresent } from '../db/engine.ts';
import type { FollowedActRow, FollowedServerRow, Tables } from '../db/tables.ts';
import type { Card } from '../requests/decision.ts';
import {
  describeStanding,
  FOLLOWED_ACTIONS,
  type FollowedAct,
  type FollowedServer,
  supersededBy,
} from './follow.ts';
import type { ActMessages, FollowedActs, FollowLease, StartedAct, TakenAct } from './ports.ts';

/** Longer than any wait here: a later due time or lease was written before the clock was set back. */
const LATEST_MS = 5 * MINUTE_MS;
/** How long the place of an act's message is kept. */
const MESSAGE_MS = DAY_MS;

/** Stores the followed acts, each leased by the process that follows it. The lease of a crashed process expires. */
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

/** Marks the server as superseded in earlier acts, whose outcome can no longer be observed. */
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

/** Finds and leases due acts in one statement. */
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
      // Keeps a status that another act has set since.
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

function toAct(
  row: FollowedActRow,
  servers: readonly FollowedServerRow[],
  message: { readonly channel_id: string; readonly ts: string } | undefined,
): TakenAct {
  const { thread_ts: ts, is_thread_open: isOpen } = row;
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    action: row.action,
    actorId: row.actor_id,
    ...keepPresent({
      channelId: row.channel_id,
      thread: ts === null ? null : { ts, isOpen: isOpen === 1 },
      message: message ? cardOf(message) : null,
    }),
    keyGeneration: row.key_generation,
    since: row.since,
    lookedAt: row.looked_at,
    passedMs: row.passed_ms,
    isMeasured: row.is_measured === 1,
    told: row.told,
    servers: servers.map(toServer),
  };
}

function cardOf({ channel_id, ts }: { readonly channel_id: string; readonly ts: string }): Card {
  return { channelId: channel_id, ts };
}

function toServer(row: FollowedServerRow): FollowedServer {
  const { superseded_by: by, superseded_action: action } = row;
  return {
    serverId: row.server_id,
    label: row.label,
    standing: row.standing,
    hasChanged: row.has_changed === 1,
    ...keepPresent({
      state: row.state,
      ipv4: row.ipv4,
      paidUntil: row.paid_until,
      settledMs: row.settled_ms,
      superseded: by === null || action === null ? null : { by, action },
    }),
  };
}

/** The columns that change while a server is followed. */
function columnsOfServer(server: FollowedServer) {
  return {
    label: server.label,
    standing: server.standing,
    state: server.state ?? null,
    ipv4: server.ipv4 ?? null,
    paid_until: server.paidUntil ?? null,
    has_changed: server.hasChanged ? 1 : 0,
    settled_ms: server.settledMs === undefined ? null : Math.round(server.settledMs),
    superseded_by: server.superseded?.by ?? null,
    superseded_action: server.superseded?.action ?? null,
  };
}

/** Stores where the channels' messages about acts are, by the act's ID. */
export function createActMessages({ db }: Foundation): ActMessages {
  return {
    put: async (id, workspaceId, { channelId, ts }, until) => {
      const values = { workspace_id: workspaceId, channel_id: channelId, ts, until };
      await db
        .insertInto('act_messages')
        .values({ id, ...values })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
        .execute();
    },
    find: async (id) => {
      const row = await db
        .selectFrom('act_messages')
        .select(['channel_id', 'ts'])
        .where('id', '=', id)
        .executeTakeFirst();
      return row && { channelId: row.channel_id, ts: row.ts };
    },
    remove: async (id) => {
      await db.deleteFrom('act_messages').where('id', '=', id).execute();
    },
    removeExpired: async (now) => {
      await db.deleteFrom('act_messages').where('until', '<=', now).execute();
    },
  };
}
