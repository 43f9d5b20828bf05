import type { WorkspaceId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';

/** One query for all workspaces: it runs every few seconds, and finds nothing most of the time. */
export async function listChanged(db: Queries): Promise<readonly WorkspaceId[]> {
  const rows = await db
    .selectFrom('digests')
    .select('workspace_id')
    .where('state', '=', 'live')
    .where('seen_seq', '<', (query) =>
      query
        .selectFrom('audit')
        .select(({ fn }) => fn.max('audit.seq').as('seq'))
        .whereRef('audit.workspace_id', '=', 'digests.workspace_id'),
    )
    .orderBy('workspace_id')
    .execute();
  return rows.map((row) => row.workspace_id);
}

/** Those that were read longest ago come first. */
export async function listUnread(db: Queries, before: number): Promise<readonly WorkspaceId[]> {
  const rows = await db
    .selectFrom('digests')
    .select('workspace_id')
    .where('state', '=', 'live')
    .where('read_at', '<', before)
    .orderBy('read_at')
    .execute();
  return rows.map((row) => row.workspace_id);
}
