import type { Transaction } from 'kysely';
import type { AuditOfInstall, InstallationStore } from '../../app/installations/ports.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { Installation, NewInstallation, ServedWorkspace } from '../../domain/installation.ts';
import { addGrant } from '../access/grants.ts';
import { addAudit } from '../account/audit.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import type { InstallationRow } from '../engine/installation-tables.ts';
import type { Tables } from '../engine/tables.ts';
import { eraseInstallation } from './erase-installation.ts';
import { toInstallation, toRow } from './installation-rows.ts';
import { createTokenRecord } from './token-record.ts';

/** Where the app is installed by OAuth. */
export function createInstallationStore(foundation: Foundation): InstallationStore {
  const { db, engine, vault } = foundation;
  return {
    find: async (id) => toInstallation(await findRow(db, id), vault),
    findServing: async (workspaceId) => toInstallation(await findServingRow(db, workspaceId), vault),
    install: async (installation, auditOf) => {
      const installed = await engine.transact(db, (trx) => install(trx, foundation, installation, auditOf));
      await engine.scrub(db);
      return installed;
    },
    serve: (workspace, by, at, auditOf) =>
      engine.transact(db, async (trx) => {
        const row = await findRow(trx, by.id);
        if (row?.generation !== by.generation || row.sealed === null) return false;
        await serve(trx, foundation, workspace, by, at, auditOf);
        return true;
      }),
    stopServing: async (workspaceId, installationId) => {
      await db
        .deleteFrom('installation_workspaces')
        .where('workspace_id', '=', workspaceId)
        .where('installation_id', '=', installationId)
        .execute();
    },
    ...createTokenRecord(foundation),
    erase: (version, auditOf) => eraseInstallation(foundation, version, auditOf),
  };
}

function findRow(db: Queries, id: string): Promise<InstallationRow | undefined> {
  return db.selectFrom('installations').selectAll().where('id', '=', id).executeTakeFirst();
}

function findServingRow(db: Queries, workspaceId: WorkspaceId): Promise<InstallationRow | undefined> {
  return db
    .selectFrom('installation_workspaces')
    .innerJoin('installations', 'installations.id', 'installation_workspaces.installation_id')
    .selectAll('installations')
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
}

async function install(
  trx: Transaction<Tables>,
  foundation: Foundation,
  given: NewInstallation,
  auditOf: AuditOfInstall,
): Promise<Installation> {
  const before = await findRow(trx, given.id);
  const generation = (before?.generation ?? 0) + 1;
  const row = toRow(given, generation, foundation.vault);
  await trx
    .insertInto('installations')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute();
  const installed = { ...given, generation, isRefreshRefused: false, isTokenRefused: false };
  if (given.isOrg) await auditReinstall(trx, foundation, given, auditOf);
  else await serve(trx, foundation, given, installed, given.installedAt, auditOf);
  return installed;
}

/** The workspaces of an organization are first known when someone uses the app there. */
async function auditReinstall(
  trx: Transaction<Tables>,
  foundation: Foundation,
  { id }: NewInstallation,
  auditOf: AuditOfInstall,
): Promise<void> {
  const rows = await trx
    .selectFrom('installation_workspaces')
    .select('workspace_id')
    .where('installation_id', '=', id)
    // Audit chains are always locked in the same order, to avoid deadlocks.
    .orderBy('workspace_id')
    .execute();
  for (const { workspace_id } of rows)
    for (const entry of auditOf(workspace_id, undefined)) await addAudit(trx, foundation, entry);
}

async function serve(
  trx: Transaction<Tables>,
  foundation: Foundation,
  { id, name }: ServedWorkspace,
  by: Pick<Installation, 'id' | 'installedBy'>,
  at: number,
  auditOf: AuditOfInstall,
): Promise<void> {
  await trx
    .insertInto('workspaces')
    .values({ id, name, settings: '{}', added_at: at })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ name }))
    .execute();
  await trx
    .insertInto('installation_workspaces')
    .values({ workspace_id: id, installation_id: by.id })
    .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet({ installation_id: by.id }))
    .execute();
  const owner = (await isUnowned(trx, id)) ? by.installedBy : undefined;
  if (owner !== undefined) await makeOwner(trx, foundation, id, owner, at);
  for (const entry of auditOf(id, owner)) await addAudit(trx, foundation, entry);
}

/** In most workspaces any member may install an app: that must not make them an owner of what others have set up. */
async function isUnowned(trx: Queries, workspaceId: WorkspaceId): Promise<boolean> {
  const owner = await trx
    .selectFrom('grants')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('role', '=', 'owner')
    .executeTakeFirst();
  const key = await trx
    .selectFrom('api_keys')
    .select('workspace_id')
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  return owner === undefined && key === undefined;
}

async function makeOwner(
  trx: Transaction<Tables>,
  { newId }: Foundation,
  workspaceId: WorkspaceId,
  userId: string,
  grantedAt: number,
): Promise<void> {
  const grant = { workspaceId, subjectKind: 'user', subjectId: userId, role: 'owner', pattern: '' } as const;
  await addGrant(trx, newId(), { ...grant, grantedBy: userId, grantedAt });
}
