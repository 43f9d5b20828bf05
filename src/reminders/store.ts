import type { Transaction } from 'kysely';
import { z } from 'zod';
import { parseSettings } from '../account/workspaces.ts';
import type { ServerId, WorkspaceId } from '../core/ids.ts';
import { money } from '../core/money.ts';
import type { Foundation, Queries } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { toOperation } from '../purchases/ledger-rows.ts';
import type { Operation } from '../purchases/operation.ts';
import type { Digests, LiveDigest, PaidPrice, Reminders, Snapshot } from './ports.ts';
import { type DigestContent, type ReminderMark, SNOOZES } from './reminder.ts';

/** The digests that were claimed, and the one of each workspace that is edited. */
export function createDigests(foundation: Foundation): Digests {
  const { db, engine } = foundation;
  return {
    listWorkspaces: (after) => listWorkspaces(db, after),
    claim: async (workspaceId, day, at) => (await insertClaim(db, workspaceId, day, at)) !== undefined,
    isClaimed: async (workspaceId, day) => (await findRow(db, workspaceId, day)) !== undefined,
    release: async (workspaceId, day) => {
      await ofDay(db.deleteFrom('digests'), workspaceId, day).where('state', '=', 'claimed').execute();
    },
    endQuietly: (workspaceId, day, { isRead, snapshot }) =>
      engine.transact(db, async (trx) => {
        await ofDay(trx.updateTable('digests'), workspaceId, day)
          .set((column) => ({ state: 'quiet', read_at: isRead ? column.ref('at') : 0 }))
          .where('state', '=', 'claimed')
          .execute();
        await putSnapshot(trx, workspaceId, snapshot);
      }),
    markPosted: (digest, snapshot) => engine.transact(db, (trx) => markPosted(trx, digest, snapshot)),
    findLive: (workspaceId) => findLive(db, workspaceId),
    findLastAt: (workspaceId) => findLastAt(db, workspaceId),
    findSnapshot: (workspaceId) => findSnapshot(db, workspaceId),
    close: async (workspaceId, day) => {
      await ofDay(db.updateTable('digests'), workspaceId, day)
        .set({ state: 'closed' })
        .where('state', '=', 'live')
        .execute();
    },
    removeBefore: async (at) => {
      await db.deleteFrom('digests').where('at', '<', at).execute();
    },
  };
}

interface OfDay<Query> {
  where(column: 'workspace_id' | 'day', operator: '=', value: string): Query;
}

function ofDay<Query extends OfDay<Query>>(query: Query, workspaceId: WorkspaceId, day: string): Query {
  return query.where('workspace_id', '=', workspaceId).where('day', '=', day);
}

/** Reading the settings of so many takes a few milliseconds. */
const PAGE = 50;

/** The settings of all workspaces are read often, so those without a digest are left to the database. */
async function listWorkspaces(db: Queries, after = '') {
  const rows = await db
    .selectFrom('workspaces')
    .select(['id', 'settings'])
    .where('settings', 'like', '%"digest":{%')
    .where('id', '>', after)
    .orderBy('id')
    .limit(PAGE)
    .execute();
  return rows.flatMap(({ id, settings }) => {
    const { digest } = parseSettings(settings);
    return digest ? [{ workspaceId: id, digest }] : [];
  });
}

function insertClaim(db: Queries, workspaceId: WorkspaceId, day: string, at: number) {
  return db
    .insertInto('digests')
    .values({
      workspace_id: workspaceId,
      day,
      state: 'claimed',
      at,
      channel_id: null,
      ts: null,
      content: '',
      read_at: 0,
      // Not used, but not nullable.
      ...{ sights: '{}', seen_seq: 0, shown: '' },
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('day')
    .executeTakeFirst();
}

function findRow(db: Queries, workspaceId: WorkspaceId, day: string) {
  return ofDay(db.selectFrom('digests').select('state'), workspaceId, day).executeTakeFirst();
}

async function markPosted(
  trx: Transaction<Tables>,
  { workspaceId, day, card, content }: LiveDigest,
  snapshot: Snapshot | undefined,
): Promise<LiveDigest | undefined> {
  const before = await findLive(trx, workspaceId);
  await trx
    .updateTable('digests')
    .set({ state: 'closed' })
    .where('workspace_id', '=', workspaceId)
    .where('state', '=', 'live')
    .execute();
  await ofDay(trx.updateTable('digests'), workspaceId, day)
    .set((column) => ({
      state: 'live',
      channel_id: card.channelId,
      ts: card.ts,
      content: JSON.stringify(content),
      read_at: column.ref('at'),
    }))
    .execute();
  await putSnapshot(trx, workspaceId, snapshot);
  return before;
}

async function findLive(db: Queries, workspaceId: WorkspaceId): Promise<LiveDigest | undefined> {
  const row = await db
    .selectFrom('digests')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('state', '=', 'live')
    .orderBy('at', 'desc')
    .executeTakeFirst();
  if (!row || row.channel_id === null || row.ts === null) return undefined;
  return {
    workspaceId,
    day: row.day,
    card: { channelId: row.channel_id, ts: row.ts },
    content: parseContent(row.content),
    postedAt: row.at,
  };
}

async function findLastAt(db: Queries, workspaceId: WorkspaceId): Promise<number | undefined> {
  const row = await db
    .selectFrom('digests')
    .select('at')
    .where('workspace_id', '=', workspaceId)
    .where('read_at', '>', 0)
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.at;
}

async function findSnapshot(db: Queries, workspaceId: WorkspaceId): Promise<Snapshot | undefined> {
  const row = await db
    .selectFrom('digest_snapshots')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  return row && { account: row.account, at: row.at, servers: parseServers(row.servers) };
}

async function putSnapshot(db: Queries, workspaceId: WorkspaceId, snapshot: Snapshot | undefined) {
  if (!snapshot) return;
  const { account, at } = snapshot;
  const seen = { account, at, servers: JSON.stringify(snapshot.servers) };
  await db
    .insertInto('digest_snapshots')
    .values({ workspace_id: workspaceId, ...seen })
    .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(seen))
    .execute();
}

const named = { serverId: z.number(), label: z.string() };

const content = z.object({
  due: z.array(
    z.object({
      ...named,
      paidUntil: z.number(),
      daysLeft: z.number(),
      urgency: z.enum(['high', 'medium', 'low']),
      snoozes: z.array(z.object({ kind: z.enum(SNOOZES), untilDay: z.string() })),
      price: z.number().int().transform(money).exactOptional(),
    }),
  ),
  expired: z.array(
    z.object({
      ...named,
      paidUntil: z.number(),
      leftBy: z.string().exactOptional(),
      isListed: z.boolean(),
    }),
  ),
  drift: z.object({
    appeared: z.array(z.object(named)),
    vanished: z.array(z.object(named)),
    changed: z.array(z.object({ ...named, before: z.string(), now: z.string() })),
  }),
  snoozed: z.number(),
  left: z.number(),
  isComplete: z.boolean(),
});

const servers = z.array(
  z.object({ id: z.number(), label: z.string(), state: z.string(), paidUntil: z.number().exactOptional() }),
);

/** @throws ZodError, SyntaxError when it is not what was stored */
function parseContent(json: string): DigestContent {
  return content.parse(JSON.parse(json));
}

/** @throws ZodError, SyntaxError */
function parseServers(json: string): Snapshot['servers'] {
  return servers.parse(JSON.parse(json));
}

/** What users decided about reminders, and what the ledger knows of the servers in them. */
export function createReminders({ db }: Foundation): Reminders {
  return {
    putMark: (workspaceId, mark) => putMark(db, workspaceId, mark),
    removeMark: async (workspaceId, serverId, paidUntil) => {
      const removed = await db
        .deleteFrom('reminder_marks')
        .where('workspace_id', '=', workspaceId)
        .where('server_id', '=', serverId)
        .where('paid_until', '=', paidUntil)
        .returning('server_id')
        .executeTakeFirst();
      return removed !== undefined;
    },
    listMarks: (workspaceId) => listMarks(db, workspaceId),
    removeMarksBefore: async (paidUntil) => {
      await db.deleteFrom('reminder_marks').where('paid_until', '<', paidUntil).execute();
    },
    listRenewals: (workspaceId, serverIds) =>
      inPages(serverIds, (some) => listRenewals(db, workspaceId, some)),
    listPrices: (workspaceId, serverIds) => inPages(serverIds, (some) => listPrices(db, workspaceId, some)),
  };
}

/** The last decision about a server counts. */
async function putMark(db: Queries, workspaceId: WorkspaceId, mark: ReminderMark): Promise<void> {
  const { serverId, label, paidUntil, by, at, untilDay = '' } = mark;
  const decided = { label, paid_until: paidUntil, marked_by: by, marked_at: at, until_day: untilDay };
  await db
    .insertInto('reminder_marks')
    .values({ workspace_id: workspaceId, server_id: serverId, ...decided })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'server_id']).doUpdateSet(decided))
    .execute();
}

async function listMarks(db: Queries, workspaceId: WorkspaceId): Promise<readonly ReminderMark[]> {
  const rows = await db
    .selectFrom('reminder_marks')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('paid_until')
    .orderBy('server_id')
    .execute();
  return rows.map((row) => ({
    serverId: row.server_id,
    label: row.label,
    paidUntil: row.paid_until,
    by: row.marked_by,
    at: row.marked_at,
    untilDay: row.until_day === '' ? undefined : row.until_day,
  }));
}

async function listRenewals(
  db: Queries,
  workspaceId: WorkspaceId,
  serverIds: readonly ServerId[],
): Promise<readonly Operation[]> {
  const rows = await db
    .selectFrom('operations')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', 'renew')
    .where('state', '<>', 'refused')
    .where('server_id', 'in', serverIds)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toOperation);
}

async function listPrices(
  db: Queries,
  workspaceId: WorkspaceId,
  serverIds: readonly ServerId[],
): Promise<readonly PaidPrice[]> {
  const rows = await db
    .selectFrom('operations')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('state', '=', 'settled')
    .where('price', 'is not', null)
    .where('server_id', 'in', serverIds)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  const newest = new Map(rows.map((row) => [row.server_id, row]));
  return [...newest].flatMap(([serverId, row]) =>
    serverId === null ? [] : [{ serverId, operation: toOperation(row) }],
  );
}

/** So many values fit into a statement of every engine. */
const RENEWALS_AT_ONCE = 500;

async function inPages<Row>(
  ids: readonly ServerId[],
  list: (some: readonly ServerId[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (let from = 0; from < ids.length; from += RENEWALS_AT_ONCE)
    found.push(...(await list(ids.slice(from, from + RENEWALS_AT_ONCE))));
  return found;
}
