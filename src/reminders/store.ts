import { parseSettings } from '../account/workspaces.ts';
import type { PostedMessage, ServerId, WorkspaceId } from '../core/ids.ts';
import type { Server } from '../core/server.ts';
import type { DigestSettings } from '../core/settings.ts';
import type { Foundation, Queries } from '../db/database.ts';
import { type Operation, toOperation } from '../purchases/operation.ts';
import type { DigestContent } from './digest-content.ts';

export interface DigestWorkspace {
  readonly workspaceId: WorkspaceId;
  readonly digest: DigestSettings;
}

/** The servers of an account at a moment, from a complete list. */
export interface Snapshot {
  readonly account: string;
  readonly at: number;
  /** Without what no digest compares, such as addresses. */
  readonly servers: readonly Server[];
}

/** The newest digest of a workspace, whose message is edited. */
export interface LiveDigest {
  readonly workspaceId: WorkspaceId;
  readonly day: string;
  readonly card: PostedMessage;
  readonly content: DigestContent;
  readonly postedAt: number;
}

/** The digests that were claimed, and the one of each workspace that is edited. A day is one of the digest's time zone. */
export function createDigests(foundation: Foundation) {
  const { db, engine } = foundation;
  return {
    /** The workspaces with a digest channel. */
    listWorkspaces: async (): Promise<readonly DigestWorkspace[]> => {
      const rows = await db
        .selectFrom('workspaces')
        .select(['id', 'settings'])
        .where('settings', 'like', '%"digest":{%')
        .execute();
      return rows.flatMap(({ id, settings }) => {
        const { digest } = parseSettings(settings);
        return digest ? [{ workspaceId: id, digest }] : [];
      });
    },
    /** Claims the workspace's one digest of that day, durably. False when it was claimed before, by any process. */
    claim: async (workspaceId: WorkspaceId, day: string, at: number): Promise<boolean> => {
      const unposted = { channel_id: null, ts: null, content: '' };
      const claimed = await db
        .insertInto('digests')
        .values({ workspace_id: workspaceId, day, state: 'claimed', at, ...unposted })
        .onConflict((conflict) => conflict.doNothing())
        .returning('day')
        .executeTakeFirst();
      return claimed !== undefined;
    },
    isClaimed: async (workspaceId: WorkspaceId, day: string): Promise<boolean> => {
      const row = ofDay(db.selectFrom('digests').select('state'), workspaceId, day);
      return (await row.executeTakeFirst()) !== undefined;
    },
    /** Releases the claim: Slack has said that nothing was posted. */
    release: async (workspaceId: WorkspaceId, day: string): Promise<void> => {
      await ofDay(db.deleteFrom('digests'), workspaceId, day).where('state', '=', 'claimed').execute();
    },
    /** The claimed digest had nothing to report. */
    endQuietly: (workspaceId: WorkspaceId, day: string, snapshot: Snapshot | undefined): Promise<void> =>
      engine.transact(db, async (trx) => {
        await ofDay(trx.updateTable('digests'), workspaceId, day).set({ state: 'quiet' }).execute();
        await putSnapshot(trx, workspaceId, snapshot);
      }),
    /** The claimed digest was posted: from now on it is the workspace's live one. Returns the one before it, if that was live. */
    markPosted: (
      { workspaceId, day, card, content }: LiveDigest,
      snapshot: Snapshot | undefined,
    ): Promise<LiveDigest | undefined> =>
      engine.transact(db, async (trx) => {
        const before = await findLive(trx, workspaceId);
        const posted = { channel_id: card.channelId, ts: card.ts, content: JSON.stringify(content) };
        await ofDay(trx.updateTable('digests'), workspaceId, day)
          .set({ state: 'posted', ...posted })
          .execute();
        await putSnapshot(trx, workspaceId, snapshot);
        return before;
      }),
    findLive: (workspaceId: WorkspaceId) => findLive(db, workspaceId),
    /** When the last digest was read that is known to have been posted, or to have had nothing to report. */
    findLastAt: async (workspaceId: WorkspaceId): Promise<number | undefined> => {
      const row = await db
        .selectFrom('digests')
        .select('at')
        .where('workspace_id', '=', workspaceId)
        .where('state', '<>', 'claimed')
        .orderBy('at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row?.at;
    },
    findSnapshot: async (workspaceId: WorkspaceId): Promise<Snapshot | undefined> => {
      const row = await db
        .selectFrom('digest_snapshots')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirst();
      return row && { account: row.account, at: row.at, servers: JSON.parse(row.servers) };
    },
    /** The message of a posted digest is gone. */
    close: async (workspaceId: WorkspaceId, day: string): Promise<void> => {
      await ofDay(db.updateTable('digests'), workspaceId, day).set({ state: 'closed' }).execute();
    },
    removeBefore: async (at: number): Promise<void> => {
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

/** The newest posted digest, if its message is still there. */
async function findLive(db: Queries, workspaceId: WorkspaceId): Promise<LiveDigest | undefined> {
  const row = await db
    .selectFrom('digests')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('state', 'in', ['posted', 'closed'])
    .orderBy('at', 'desc')
    .executeTakeFirst();
  if (row?.state !== 'posted' || row.channel_id === null || row.ts === null) return undefined;
  return {
    workspaceId,
    day: row.day,
    card: { channelId: row.channel_id, ts: row.ts },
    content: JSON.parse(row.content),
    postedAt: row.at,
  };
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

/** What the ledger knows of the servers in reminders. */
export function createReminders({ db }: Foundation) {
  /** Purchases of these servers, the newest last. */
  const listPurchases = async (
    workspaceId: WorkspaceId,
    serverIds: readonly ServerId[],
  ): Promise<readonly Operation[]> => {
    if (serverIds.length === 0) return [];
    const rows = await db
      .selectFrom('operations')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where('server_id', 'in', serverIds)
      .where('kind', '<>', 'delete')
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    return rows.map(toOperation);
  };
  return {
    /** Renewals of these servers, other than refused ones; the newest last. */
    listRenewals: async (workspaceId: WorkspaceId, serverIds: readonly ServerId[]) =>
      (await listPurchases(workspaceId, serverIds)).filter(
        ({ purchase, state }) => purchase.kind === 'renew' && state !== 'refused',
      ),
    /** Settled purchases of these servers whose price is known; the newest last. */
    listPriced: async (workspaceId: WorkspaceId, serverIds: readonly ServerId[]) =>
      (await listPurchases(workspaceId, serverIds)).filter(
        ({ price, state }) => price !== undefined && state === 'settled',
      ),
  };
}
