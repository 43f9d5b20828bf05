import type { Transaction } from 'kysely';
import type { Digests, LiveDigest, Snapshot } from '../../app/reminders/ports.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { readSettings } from '../account/stored-settings.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import type { Tables } from '../engine/tables.ts';
import { parseContent, parseServers } from './parse-digest.ts';

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
    const { digest } = readSettings(settings);
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
