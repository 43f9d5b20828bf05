import { sql, type Transaction } from 'kysely';
import type { LeftBehind } from '../../app/installations/ports.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import type { Tables } from '../engine/tables.ts';

/**
 * What an uninstall erases (`erase-installation.ts`), and an older version of the app may not know. Rows that end by themselves
 * are left to that.
 */
export const LEFT_TABLES = [
  'server_notes',
  'homes',
  'workflow_keys',
  'workflow_runs',
  'followed_acts',
  'followed_servers',
] as const;

/** An uninstall is among the last entries of its workspace: hardly anything is audited after it. */
const LAST_ENTRIES = 200;

export function createLeftBehind({ db, engine }: Foundation): LeftBehind {
  return {
    erase: async () => {
      const erased: WorkspaceId[] = [];
      for (const workspaceId of await listCandidates(db)) {
        const isErased = await engine.transact(db, async (trx) => {
          const uninstalledAt = await findUninstall(trx, workspaceId);
          return uninstalledAt !== undefined && (await eraseUntil(trx, workspaceId, uninstalledAt));
        });
        if (isErased) erased.push(workspaceId);
      }
      if (erased.length > 0) await engine.scrub(db);
      return erased;
    },
  };
}

/** The workspaces that have such rows and no installation; none where the app was never uninstalled. */
async function listCandidates(db: Queries): Promise<readonly WorkspaceId[]> {
  const uninstalled = db.selectFrom('installations').select('id').where('sealed', 'is', null);
  if (!(await uninstalled.executeTakeFirst())) return [];
  const [first, ...others] = LEFT_TABLES.map((table) =>
    db.selectFrom(table).select('workspace_id').distinct(),
  );
  if (!first) return [];
  const found = others.reduce((all, other) => all.union(other), first);
  const rows = await db
    .selectFrom(found.as('found'))
    .select('workspace_id')
    .where('workspace_id', 'not in', db.selectFrom('installation_workspaces').select('workspace_id'))
    .orderBy('workspace_id')
    .execute();
  return rows.map((row) => row.workspace_id);
}

/**
 * When the app was uninstalled there, if it is proven that it is not installed there now. That there is no installation proves
 * nothing: a token in the settings may have served the workspace before, and its data stay for the install. So the audit has
 * to say that it was uninstalled, and no installation may be its own or its organization's.
 */
async function findUninstall(trx: Queries, workspaceId: WorkspaceId): Promise<number | undefined> {
  const serving = trx
    .selectFrom('installation_workspaces')
    .selectAll()
    .where('workspace_id', '=', workspaceId);
  if (await serving.executeTakeFirst()) return undefined;
  const own = await trx
    .selectFrom('installations')
    .select(['sealed', 'enterprise_id'])
    .where('id', '=', workspaceId)
    .executeTakeFirst();
  if (own && own.sealed !== null) return undefined;
  const organizations = await trx
    .selectFrom('installations')
    .select('id')
    .where('is_org', '=', 1)
    .where('sealed', 'is not', null)
    .execute();
  // A workspace of an organization becomes known only when someone uses the app there.
  const mayBelong = organizations.some(({ id }) => !own || own.enterprise_id === id);
  return mayBelong ? undefined : findLastUninstall(trx, workspaceId);
}

/** Only what was done counts: users of other organizations are audited under whatever they typed, "uninstall" included. */
async function findLastUninstall(trx: Queries, workspaceId: WorkspaceId): Promise<number | undefined> {
  const entries = await trx
    .selectFrom('audit')
    .select(['action', 'outcome', 'at'])
    .where('workspace_id', '=', workspaceId)
    .orderBy('seq', 'desc')
    .limit(LAST_ENTRIES)
    .execute();
  const last = entries.find(
    ({ action, outcome }) => (action === 'install' || action === 'uninstall') && outcome === 'done',
  );
  return last?.action === 'uninstall' ? last.at : undefined;
}

/** Rows that were stored later stay: the workspace was served then, such as by a token in the settings. True if any were erased. */
async function eraseUntil(
  trx: Transaction<Tables>,
  workspaceId: WorkspaceId,
  until: number,
): Promise<boolean> {
  const acts = trx
    .selectFrom('followed_acts')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('since', '<=', until);
  const servers = trx.deleteFrom('followed_servers').where('act_id', 'in', acts);
  const keys = trx
    .deleteFrom('workflow_keys')
    .where('issued_at', '<=', until)
    .where((key) => key.or([key('last_used_at', 'is', null), key('last_used_at', '<=', until)]));
  const erased = [
    await servers.where('workspace_id', '=', workspaceId).returning('workspace_id').execute(),
    await keys.where('workspace_id', '=', workspaceId).returning('workspace_id').execute(),
  ];
  for (const [table, time] of DATED)
    erased.push(
      await trx
        .deleteFrom(table)
        .where('workspace_id', '=', workspaceId)
        .where(sql.ref<number>(time), '<=', until)
        .returning('workspace_id')
        .execute(),
    );
  return erased.flat().length > 0;
}

/** Each with the time of its rows. */
const DATED = [
  ['followed_acts', 'since'],
  ['server_notes', 'noted_at'],
  ['homes', 'opened_at'],
  ['workflow_runs', 'received_at'],
] as const;
