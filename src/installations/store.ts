import type { Transaction } from 'kysely';
import { z } from 'zod';
import { addGrant } from '../access/grant-store.ts';
import { removeKey } from '../account/keys.ts';
import { type AuditEntry, type AuditSubject, auditRoles } from '../core/audit-entry.ts';
import type { InstallationId, UserId, WorkspaceId } from '../core/ids.ts';
import { EVERY_SERVER } from '../core/labels.ts';
import { THE_APP } from '../core/roles.ts';
import { Secret } from '../core/secret.ts';
import { HOUR_MS } from '../core/time.ts';
import { addAudit } from '../db/audit.ts';
import type { Foundation, Queries } from '../db/database.ts';
import { addJob } from '../db/jobs.ts';
import type { InstallationRow, Tables } from '../db/tables.ts';
import type { SealedPlace, Vault } from '../db/vault.ts';
import type { BotTokens, Installation, NewInstallation, ServedWorkspace } from './installations.ts';

/** The kind of job of an installation; its key is the installation's ID. */
export const INSTALLATION = 'installation';

/** Tokens are renewed this long before they end. They live for twelve hours, so there is time to try again. */
const AHEAD_MS = 3 * HOUR_MS;

/** When its token has to be renewed, in epoch milliseconds; undefined without token rotation. */
export function renewalDueAt({ tokens }: NewInstallation): number | undefined {
  return tokens.rotation && tokens.rotation.expiresAt - AHEAD_MS;
}

export type InstallationStore = ReturnType<typeof createInstallationStore>;

export function createInstallationStore(foundation: Foundation) {
  const { db, engine, vault, newId } = foundation;
  return {
    /** Undefined if the app is not installed there, or no longer. @throws Refusal `key_unreadable` */
    find: async (id: InstallationId): Promise<Installation | undefined> =>
      toInstallation(await findRow(db, id), vault),
    /** The installation that serves this workspace. @throws Refusal `key_unreadable` */
    findServing: async (workspaceId: WorkspaceId): Promise<Installation | undefined> =>
      toInstallation(
        await db
          .selectFrom('installation_workspaces')
          .innerJoin('installations', 'installations.id', 'installation_workspaces.installation_id')
          .selectAll('installations')
          .where('workspace_id', '=', workspaceId)
          .where('is_served', '=', 1)
          .executeTakeFirst(),
        vault,
      ),
    /**
     * Stores an install and its audit entries in one transaction. Replaces an earlier install of the same workspace or
     * organization; everything else of its workspaces stays. The installer becomes an owner if there is no grant of that role
     * and no hosting account is connected (docs/design.md 3.3).
     */
    install: async (given: NewInstallation): Promise<Installation> => {
      const installed = await engine.transact(db, async (trx) => {
        const generation = ((await findRow(trx, given.id))?.generation ?? 0) + 1;
        const row = toRow(given, generation, vault);
        await trx
          .insertInto('installations')
          .values(row)
          .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
          .execute();
        const dueAt = renewalDueAt(given);
        if (dueAt !== undefined) await askFor(trx, foundation, given.id, dueAt);
        const installation = { ...given, generation, isRefreshRefused: false, isTokenRefused: false };
        if (given.isOrg) await auditReinstall(trx, foundation, given);
        else await serve(trx, foundation, given, installation, given.installedAt);
        return installation;
      });
      await engine.scrub(db);
      return installed;
    },
    /**
     * Lets the installation of an organization serve one of its workspaces, and audits that there as an install. False, and
     * nothing is stored, if the app was uninstalled or installed again since.
     */
    serve: (workspace: ServedWorkspace, by: Installation, at: number): Promise<boolean> =>
      engine.transact(db, async (trx) => {
        const row = await findRow(trx, by.id);
        if (row?.generation !== by.generation || row.sealed === null) return false;
        await serve(trx, foundation, workspace, by, at);
        return true;
      }),
    /** Ends serving a workspace from which its organization has taken the app. Its data stay, for when it is given back. */
    stopServing: async (workspaceId: WorkspaceId, installationId: InstallationId): Promise<void> => {
      await db
        .updateTable('installation_workspaces')
        .set({ is_served: 0 })
        .where('workspace_id', '=', workspaceId)
        .where('installation_id', '=', installationId)
        .execute();
    },
    /** Stores renewed tokens. False, and nothing is changed, if the tokens were replaced since. */
    replaceTokens: async (was: Installation, tokens: BotTokens): Promise<boolean> => {
      const { sealed, expires_at } = toRow({ ...was, tokens }, was.generation, vault);
      const isGood = { is_refresh_refused: 0, is_token_refused: 0 };
      const isChanged = await engine.transact(db, async (trx) => {
        const isStored = await changeTokens(trx, was, { sealed, expires_at, ...isGood });
        // Another process may have ended the job: while this one was frozen, Slack refused its refresh token there. It runs once
        // more at once, and finds when it is due.
        if (isStored) await askFor(trx, foundation, was.id, engine.clock.now());
        return isStored;
      });
      if (isChanged) await engine.scrub(db);
      return isChanged;
    },
    markRefreshRefused: async (was: Installation): Promise<void> => {
      await changeTokens(db, was, { is_refresh_refused: 1 });
    },
    /** Marks whether Slack refuses the bot token. Changes nothing if the tokens were replaced since. */
    markTokenRefused: async (was: Installation, isRefused: boolean): Promise<void> => {
      await changeTokens(db, was, { is_token_refused: isRefused ? 1 : 0 });
    },
    /**
     * Stores that an event reported an uninstall at that time (epoch ms), until `erase`, `dropRevocation` or another install, and asks
     * for the job that checks it.
     */
    noteRevocation: (id: InstallationId, at: number): Promise<void> =>
      engine.transact(db, async (trx) => {
        const noted = await trx
          .updateTable('installations')
          .set({ revoked_at: at })
          .where('id', '=', id)
          .where('sealed', 'is not', null)
          .where('revoked_at', '<', at)
          .returning('id')
          .executeTakeFirst();
        if (noted) await askFor(trx, foundation, id, engine.clock.now());
      }),
    /** Removes a reported uninstall, unless a later event has been stored. */
    dropRevocation: async (id: InstallationId, revokedAt: number): Promise<void> => {
      await db
        .updateTable('installations')
        .set({ revoked_at: 0 })
        .where('id', '=', id)
        .where('revoked_at', '=', revokedAt)
        .execute();
    },
    /**
     * Erases the tokens, and in each served workspace the API key, the root passwords, the roles and everything else that could
     * be used there, in one transaction with the audit. Operations, settings and the audit stay. Money effect: none; nothing
     * more can be paid with the key. False, and nothing is erased, if the app was installed again or its token renewed since.
     */
    erase: async ({ id, generation, tokens }: Installation): Promise<boolean> => {
      const isErased = await engine.transact(db, async (trx) => {
        const row = await trx
          .updateTable('installations')
          .set({ sealed: null, expires_at: 0, is_refresh_refused: 0, revoked_at: 0 })
          .where('id', '=', id)
          .where('generation', '=', generation)
          .where('expires_at', '=', tokens.rotation?.expiresAt ?? 0)
          .where('sealed', 'is not', null)
          .returning('id')
          .executeTakeFirst();
        if (!row) return false;
        const at = engine.clock.now();
        for (const workspaceId of await takeWorkspaces(trx, id)) {
          const act = { at, workspaceId, actorId: THE_APP, surface: 'background', outcome: 'done' } as const;
          for (const subject of await eraseWorkspace(trx, workspaceId))
            await addAudit(trx, foundation, {
              ...act,
              ...subject,
              actId: newId(),
              action: 'password_erased',
            });
          await addAudit(trx, foundation, { ...act, actId: newId(), action: 'uninstall' });
        }
        return true;
      });
      if (isErased) await engine.scrub(db);
      return isErased;
    },
  };
}

function askFor(trx: Queries, foundation: Foundation, id: InstallationId, dueAt: number): Promise<void> {
  return addJob(trx, foundation, { kind: INSTALLATION, key: id, workspaceId: id, dueAt });
}

function findRow(db: Queries, id: string): Promise<InstallationRow | undefined> {
  return db.selectFrom('installations').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Audits an organization's repeated install in the workspaces it serves. Those of a first install are not known yet. */
async function auditReinstall(
  trx: Transaction<Tables>,
  foundation: Foundation,
  { id, installedBy, installedAt }: NewInstallation,
): Promise<void> {
  const rows = await trx
    .selectFrom('installation_workspaces')
    .select('workspace_id')
    .where('installation_id', '=', id)
    .where('is_served', '=', 1)
    // Audit chains are always locked in the same order, to avoid deadlocks.
    .orderBy('workspace_id')
    .execute();
  for (const { workspace_id } of rows)
    await auditOnPage(trx, foundation, workspace_id, installedBy, installedAt, { action: 'install' });
}

async function serve(
  trx: Transaction<Tables>,
  foundation: Foundation,
  { id, name }: ServedWorkspace,
  by: Installation,
  at: number,
): Promise<void> {
  await trx
    .insertInto('workspaces')
    .values({ id, name, settings: '{}' })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ name }))
    .execute();
  await trx
    .insertInto('installation_workspaces')
    .values({ workspace_id: id, installation_id: by.id })
    .onConflict((conflict) =>
      conflict.column('workspace_id').doUpdateSet({ installation_id: by.id, is_served: 1 }),
    )
    .execute();
  const isUnowned = await lacksOwner(trx, id);
  await auditOnPage(trx, foundation, id, by.installedBy, at, { action: 'install' });
  if (isUnowned) await makeOwner(trx, foundation, id, by.installedBy, at);
}

function auditOnPage(
  trx: Transaction<Tables>,
  foundation: Foundation,
  workspaceId: WorkspaceId,
  actorId: UserId,
  at: number,
  act: Pick<AuditEntry, 'action' | 'details'>,
): Promise<void> {
  const done = { actId: foundation.newId(), surface: 'page', outcome: 'done' } as const;
  return addAudit(trx, foundation, { at, workspaceId, actorId, ...done, ...act });
}

/**
 * Whether a workspace has neither an owner grant nor an API key. Any member may install an app, and must not own what others
 * set up.
 */
async function lacksOwner(trx: Queries, workspaceId: WorkspaceId): Promise<boolean> {
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
  foundation: Foundation,
  workspaceId: WorkspaceId,
  subjectId: UserId,
  at: number,
): Promise<void> {
  const role = { role: 'owner', pattern: EVERY_SERVER, subjectId } as const;
  const grant = { ...role, workspaceId, subjectKind: 'user', grantedBy: subjectId, grantedAt: at } as const;
  await addGrant(trx, foundation.newId(), grant);
  await auditOnPage(trx, foundation, workspaceId, subjectId, at, {
    action: 'access_grant',
    details: auditRoles([role]),
  });
}

const sealedTokens = z.object({ bot: z.string(), refresh: z.string().exactOptional() });

/** Reads a row; undefined if its tokens were erased. @throws Refusal `key_unreadable`, VaultError */
function toInstallation(row: InstallationRow | undefined, vault: Vault): Installation | undefined {
  if (!row || row.sealed === null) return undefined;
  return {
    id: row.id,
    isOrg: row.is_org === 1,
    enterpriseId: row.enterprise_id ?? undefined,
    name: row.name,
    generation: row.generation,
    installedBy: row.installed_by,
    installedAt: row.installed_at,
    isRefreshRefused: row.is_refresh_refused === 1,
    isTokenRefused: row.is_token_refused === 1,
    revokedAt: row.revoked_at === 0 ? undefined : row.revoked_at,
    tokens: openTokens(row, row.sealed, vault),
  };
}

function openTokens(row: InstallationRow, sealed: string, vault: Vault): BotTokens {
  const { bot, refresh } = sealedTokens.parse(JSON.parse(vault.open(sealed, placeOfTokens(row))));
  const rotation =
    refresh === undefined ? undefined : { expiresAt: row.expires_at, refreshToken: new Secret(refresh) };
  return { bot: new Secret(bot), rotation };
}

/** Makes the row of an install. It keeps nothing of an earlier one. */
function toRow(installation: NewInstallation, generation: number, vault: Vault): InstallationRow {
  const { id, isOrg, enterpriseId, name, installedBy, installedAt, tokens } = installation;
  const row = {
    id,
    is_org: isOrg ? 1 : 0,
    enterprise_id: enterpriseId ?? null,
    generation,
    installed_by: installedBy,
    installed_at: installedAt,
    expires_at: tokens.rotation?.expiresAt ?? 0,
    name,
    sealed: null,
    is_refresh_refused: 0,
    is_token_refused: 0,
    revoked_at: 0,
  };
  const written = { bot: tokens.bot.reveal(), refresh: tokens.rotation?.refreshToken.reveal() };
  return { ...row, sealed: vault.seal(JSON.stringify(written), placeOfTokens(row)) };
}

/** Binds the tokens to the install (who, when, how many before), so that those of an earlier one can't be put back. */
export function placeOfTokens(row: InstallationRow): SealedPlace {
  const { id, is_org, enterprise_id, generation, installed_by, installed_at, expires_at } = row;
  return {
    table: 'installations',
    row: id,
    column: 'sealed',
    workspaceId: id,
    facts: [is_org, enterprise_id ?? '', generation, installed_by, installed_at, expires_at],
  };
}

/** Changes a row unless other tokens have been stored since. True if it was changed. */
async function changeTokens(
  db: Queries,
  was: Installation,
  columns: Partial<InstallationRow>,
): Promise<boolean> {
  const changed = await db
    .updateTable('installations')
    .set(columns)
    .where('id', '=', was.id)
    .where('generation', '=', was.generation)
    .where('expires_at', '=', was.tokens.rotation?.expiresAt ?? 0)
    .where('sealed', 'is not', null)
    .returning('id')
    .executeTakeFirst();
  return changed !== undefined;
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
