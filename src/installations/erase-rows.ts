import type { Transaction } from 'kysely';
import { removeKey } from '../account/key-store.ts';
import type { AuditSubject } from '../core/audit-entry.ts';
import type { WorkspaceId } from '../core/ids.ts';
import { addAudit } from '../db/audit.ts';
import type { Foundation, Queries } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { AuditOfErasure, Installation } from './installations.ts';

/**
 * Erases the tokens of an install, and in each workspace that it served what could be used there, in one transaction with the
 * audit. False if the app was installed again or its token renewed since. Money effect: none.
 */
export async function eraseInstallation(
  foundation: Foundation,
  { id, generation, tokens }: Installation,
  auditOf: AuditOfErasure,
): Promise<boolean> {
  const { db, engine } = foundation;
  const isErased = await engine.transact(db, async (trx) => {
    const row = await trx
      .updateTable('installations')
      .set({ sealed: null, expires_at: 0, is_refresh_refused: 0, revoked_at: 0, revocation_checked_at: 0 })
      .where('id', '=', id)
      .where('generation', '=', generation)
      .where('expires_at', '=', tokens.rotation?.expiresAt ?? 0)
      .where('sealed', 'is not', null)
      .returning('id')
      .executeTakeFirst();
    if (!row) return false;
    for (const workspaceId of await takeWorkspaces(trx, id)) {
      const passwords = await eraseWorkspace(trx, workspaceId);
      for (const entry of auditOf(workspaceId, passwords)) await addAudit(trx, foundation, entry);
    }
    return true;
  });
  if (isErased) await engine.scrub(db);
  return isErased;
}

/** Whether the app was uninstalled in the workspace since that time (epoch ms), and has not been installed there again. */
export async function isErasedSince(db: Queries, workspaceId: WorkspaceId, since: number): Promise<boolean> {
  const serving = await db
    .selectFrom('installation_workspaces')
    .select('workspace_id')
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  if (serving) return false;
  const uninstall = await db
    .selectFrom('audit')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('action', '=', 'uninstall')
    .where('outcome', '=', 'done')
    .where('at', '>=', since)
    // Skips the search where no installation was ever erased, as with `SLACK_BOT_TOKEN`.
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('installations').select('id').where('sealed', 'is', null)),
    )
    .executeTakeFirst();
  return uninstall !== undefined;
}

/** Removes and returns the installation's workspaces, in the order in which audit chains are locked. */
async function takeWorkspaces(trx: Transaction<Tables>, id: string): Promise<readonly WorkspaceId[]> {
  const rows = await trx
    .deleteFrom('installation_workspaces')
    .where('installation_id', '=', id)
    .returning('workspace_id')
    .execute();
  return rows.map(({ workspace_id }) => workspace_id).sort();
}

/** Erases a workspace's secrets and roles. Returns the operations that had a root password, or an answer that may hold one. */
async function eraseWorkspace(
  trx: Transaction<Tables>,
  workspaceId: WorkspaceId,
): Promise<readonly AuditSubject[]> {
  const passwords = await trx
    .deleteFrom('passwords')
    .where('workspace_id', '=', workspaceId)
    .returning(['operation_id', 'server_id', 'label'])
    .execute();
  const answers = await trx
    .updateTable('operations')
    .set({ sealed_answer: null })
    .where('workspace_id', '=', workspaceId)
    .where('sealed_answer', 'is not', null)
    .returning('id')
    .execute();
  await removeKey(trx, workspaceId);
  const tables = ['grants', 'kept', 'homes', 'workflow_keys', 'workflow_runs'] as const;
  for (const table of tables) await trx.deleteFrom(table).where('workspace_id', '=', workspaceId).execute();
  await trx
    .deleteFrom('server_notes')
    .where('kind', '=', 'note')
    .where('workspace_id', '=', workspaceId)
    .execute();
  // Orders stay to be resolved, requests to be closed, and the digest for another install.
  await trx
    .deleteFrom('jobs')
    .where('workspace_id', '=', workspaceId)
    .where('kind', 'not in', ['operation', 'request', 'digest'])
    .execute();
  return [
    ...passwords.map((row) => ({
      operationId: row.operation_id,
      serverId: row.server_id,
      label: row.label,
    })),
    ...answers.map(({ id }) => ({ operationId: id })),
  ].sort((a, b) => (a.operationId < b.operationId ? -1 : 1));
}
