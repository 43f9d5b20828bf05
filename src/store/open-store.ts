import { Kysely } from 'kysely';
import type { Store } from '../app/ports.ts';
import type { Spill } from '../app/purchases/ports.ts';
import type { System } from '../system.ts';
import type { Vault } from '../vault.ts';
import { createAccessRequests } from './access/access-requests.ts';
import { createGrants } from './access/grants.ts';
import { createApiKeys } from './account/api-keys.ts';
import { createAuditLog } from './account/audit.ts';
import { createConnectLinks } from './account/connect-links.ts';
import { createWorkspaces } from './account/workspaces.ts';
import { createApiCalls } from './api-calls.ts';
import { createApprovals } from './approvals/approvals.ts';
import { type Foundation, openEngine } from './engine/database.ts';
import { migrate, requireCurrent } from './engine/migrate.ts';
import type { Tables } from './engine/tables.ts';
import { createLockLeases } from './locks.ts';
import { createMigrations } from './migrations/index.ts';
import { createPing } from './ping.ts';
import { createLedger } from './purchases/ledger.ts';
import { createPasswords } from './purchases/passwords.ts';
import { createSpill } from './purchases/spill.ts';
import { createReplyUrls } from './reply-urls.ts';
import { createSeenRequests } from './seen-requests.ts';
import { createProtections } from './servers/protections.ts';

export interface StoreOptions {
  /** `sqlite:./path` or `sqlite::memory:` (docs/design.md 8, `DATABASE_URL`). */
  readonly databaseUrl: string;
  readonly vault: Vault;
  readonly system: System;
  /** False opens it beside an app that may be running: for the command line. Default true. */
  readonly lock?: boolean;
  /** Where paid answers are kept while the database can't take them (`SPILL_DIR`). Default: beside the database. */
  readonly spillDir?: string | undefined;
}

/**
 * Opens the database, brings its schema up to date and returns everything that is stored there.
 * @throws DatabaseInUse when another process holds it; DatabaseUnusable with a sentence for the operator
 */
export async function openStore({
  databaseUrl,
  vault,
  system,
  lock = true,
  spillDir,
}: StoreOptions): Promise<Store> {
  const engine = openEngine(databaseUrl, { lock });
  const db = new Kysely<Tables>({ dialect: engine.dialect });
  const close = async () => {
    await db.destroy().finally(() => engine.close());
  };
  try {
    const migrations = createMigrations(vault);
    await (engine.mayMigrate ? migrate(db, migrations) : requireCurrent(db, migrations));
    engine.markMigrated();
    if (engine.isSoleProcess) await freeLeases(db);
  } catch (error) {
    await close();
    throw error;
  }
  const foundation = { db, engine, vault, newId: () => system.newId() };
  const spill = createSpill(spillDir ?? engine.besidePath?.('spill'), vault);
  return assemble(foundation, system, spill, () => engine.scrub(db).finally(close));
}

/** Frees the leases of a killed process, where no other process can be alive that holds them. */
async function freeLeases(db: Kysely<Tables>): Promise<void> {
  await db.updateTable('operations').set({ lease_owner: '', lease_until: 0 }).execute();
  await db.deleteFrom('locks').execute();
  // However rarely they were looked for by then: a restart is a good moment.
  await db.updateTable('operations').set({ due_at: 0 }).where('state', '=', 'in_doubt').execute();
}

function assemble(foundation: Foundation, system: System, spill: Spill, close: () => Promise<void>): Store {
  let closing: Promise<void> | undefined;
  return {
    workspaces: createWorkspaces(foundation),
    apiKeys: createApiKeys(foundation),
    grants: createGrants(foundation),
    accessRequests: createAccessRequests(foundation),
    approvals: createApprovals(foundation),
    ledger: createLedger(foundation),
    passwords: createPasswords(foundation),
    spill,
    audit: createAuditLog(foundation),
    connectLinks: createConnectLinks(foundation),
    seenRequests: createSeenRequests(foundation),
    protections: createProtections(foundation),
    replyUrls: createReplyUrls(foundation),
    apiCalls: createApiCalls(foundation),
    lockLeases: createLockLeases(foundation, () => system.now()),
    ping: createPing(foundation, system),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
