import { parseSettings } from '../account/workspaces.ts';
import type { PostedMessage, WorkspaceId } from '../core/ids.ts';
import type { Server } from '../core/server.ts';
import type { DigestSettings } from '../core/settings.ts';
import type { Foundation, Queries } from '../db/database.ts';
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

/** The newest digest that was posted in a workspace, whose message is edited. */
export interface LiveDigest {
  readonly day: string;
  readonly card: PostedMessage;
  readonly content: DigestContent;
}

/** What is known of the digests of a workspace. */
export interface DigestRecord {
  /** When the last digest was read that is known to have been posted, or to have had nothing to report. */
  readonly lastAt?: number;
  /** Whether that list showed all servers; absent before the first digest. */
  readonly isComplete?: boolean;
  readonly snapshot?: Snapshot | undefined;
  readonly live?: LiveDigest | undefined;
}

/** The last digest of each workspace. A day is one of the digest's time zone. */
export function createDigests({ db }: Foundation) {
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
    /** Claims the workspace's one digest of that day, durably. False when that day or a later one was claimed, by any process. */
    claim: async (workspaceId: WorkspaceId, day: string): Promise<boolean> => {
      const claimed = await db
        .insertInto('digests')
        .values({ workspace_id: workspaceId, day, account: '', value: '{}' })
        .onConflict((conflict) =>
          conflict.column('workspace_id').doUpdateSet({ day }).where('digests.day', '<', day),
        )
        .returning('day')
        .executeTakeFirst();
      return claimed !== undefined;
    },
    /** Releases the claim: Slack has said that nothing was posted. */
    release: async (workspaceId: WorkspaceId, day: string): Promise<void> => {
      await ofDay(db, workspaceId, day).set({ day: '' }).execute();
    },
    find: async (workspaceId: WorkspaceId): Promise<DigestRecord & { readonly day: string }> => {
      const row = await db
        .selectFrom('digests')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirst();
      if (!row) return { day: '' };
      const { day, account } = row;
      const { snapshot, ...record }: DigestRecord = JSON.parse(row.value);
      return { ...record, day, snapshot: snapshot && { ...snapshot, account } };
    },
    /** Stores what became of the digest of that day, unless a later one was claimed. */
    put: async (workspaceId: WorkspaceId, day: string, record: DigestRecord): Promise<void> => {
      const { account = '' } = record.snapshot ?? {};
      await ofDay(db, workspaceId, day)
        .set({ account, value: JSON.stringify(record) })
        .execute();
    },
  };
}

function ofDay(db: Queries, workspaceId: WorkspaceId, day: string) {
  return db.updateTable('digests').where('workspace_id', '=', workspaceId).where('day', '=', day);
}
