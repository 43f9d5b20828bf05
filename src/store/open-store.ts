import { Kysely } from 'kysely';
import type { Store } from '../app/ports.ts';
import type { Spill } from '../app/purchases/ports.ts';
import type { System } from '../system.ts';
import type { Vault } from '../vault.ts';
import { createAccessRequests } from './access/access-requests.ts';
import { createGrants } from './access/grants.ts';
import { createAccounts } from './account/accounts.ts';
import { createApiKeys } from './account/api-keys.ts';
import { createAuditLog } from './account/audit.ts';
import { createConnectLinks } from './account/connect-links.ts';
import { createWorkspaces } from './account/workspaces.ts';
import { createApiCalls } from './api-calls.ts';
import { createApprovals } from './approvals/approvals.ts';
import { type Foundation, openEngine } from './engine/database.ts';
import type { Engine } from './engine/engine.ts';
import { type Migrations, migrate, requireCurrent } from './engine/migrate.ts';
import type { Tables } from './engine/tables.ts';
import { createInstallStates } from './installations/install-states.ts';
import { createInstallationStore } from './installations/installations.ts';
import { createLockLeases } from './locks.ts';
import { createMigrations } from './migrations/index.ts';
import { refuseMoved } from './moves.ts';
import { createPing } from './ping.ts';
import { createLedger } from './purchases/ledger.ts';
import { createPasswords } from './purchases/passwords.ts';
import { createSpill } from './purchases/spill.ts';
import { createReplyUrls } from './reply-urls.ts';
import { createSeenRequests } from './seen-requests.ts';
import { createProtections } from './servers/protections.ts';

export interface StoreOptions {
  /** `sqlite:./path`, `sqlite::memory:` or `postgres://…` (docs/design.md 8, `DATABASE_URL`). */
  readonly databaseUrl: string;
  readonly vault: Vault;
  readonly system: System;
  /** False opens it beside an app that may be running: for the command line. Default true. */
  readonly lock?: boolean;
  /** Where paid answers are kept while the database can't take them (`SPILL_DIR`). Default: beside the database. */
  readonly spillDir?: string | undefined;
  /** How many processes share a database server at most; each takes its share of the connections. */
  readonly maxProcesses?: number | undefined;
  /** Tests open one whose statements they can see. */
  readonly openEngine?: typeof openEngine;
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
  maxProcesses,
  openEngine: open = openEngine,
}: StoreOptions): Promise<Store> {
  const engine = await open(databaseUrl, { lock, maxProcesses, system });
  const db = new Kysely<Tables>({ dialect: engine.dialect });
  const close = async () => {
    await db.destroy().finally(() => engine.close());
  };
  try {
    await bringUp(db, engine, createMigrations(vault));
    engine.markMigrated();
    await refuseMoved(db);
    if (engine.isSoleProcess) await freeLeases(db);
    if (lock) await lookForUnconfirmed(db);
  } catch (error) {
    await close();
    throw error;
  }
  const foundation = { db, engine, vault, newId: () => engine.clock.newId() };
  const spill = createSpill(spillDir ?? engine.besidePath?.('spill'), vault);
  return assemble(foundation, system, spill, () => engine.scrub(db).finally(close));
}

/** Brings the schema up to date where this process may, and else requires that it is. */
export async function bringUp(db: Kysely<Tables>, engine: Engine, migrations: Migrations): Promise<void> {
  const { mayMigrate, migrationDialect, schema } = engine;
  if (!mayMigrate) return requireCurrent(db, migrations, schema);
  if (!migrationDialect) return migrate(db, migrations, schema);
  const patient = new Kysely<Tables>({ dialect: migrationDialect });
  return migrate(patient, migrations, schema).finally(() => patient.destroy());
}

/** Frees the leases of a killed process, where no other process can be alive that holds them. */
export async function freeLeases(db: Kysely<Tables>): Promise<void> {
  await db.updateTable('operations').set({ lease_owner: '', lease_until: 0 }).execute();
  await db.deleteFrom('locks').execute();
}

/** However rarely they were looked for by then: a start is a good moment. */
async function lookForUnconfirmed(db: Kysely<Tables>): Promise<void> {
  await db.updateTable('operations').set({ due_at: 0 }).where('state', '=', 'in_doubt').execute();
}

function assemble(foundation: Foundation, system: System, spill: Spill, close: () => Promise<void>): Store {
  let closing: Promise<void> | undefined;
  return {
    workspaces: createWorkspaces(foundation),
    accounts: createAccounts(foundation),
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
    lockLeases: createLockLeases(foundation),
    clock: foundation.engine.clock,
    installationStore: createInstallationStore(foundation),
    installStates: createInstallStates(foundation),
    ping: createPing(foundation, system),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
