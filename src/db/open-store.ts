import { accessSync, constants, mkdirSync } from 'node:fs';
import { Kysely } from 'kysely';
import { createGrants } from '../access/grant-store.ts';
import { createConnectLinks } from '../account/connect.ts';
import { createApiKeys } from '../account/keys.ts';
import { createWorkspaces } from '../account/workspaces.ts';
import type { Store } from '../context.ts';
import { createHomes } from '../home/homes.ts';
import { createInstallationStore } from '../installations/store.ts';
import { createLedger } from '../purchases/ledger.ts';
import { createPasswords } from '../purchases/password-store.ts';
import { createSpill, type Spill } from '../purchases/spill.ts';
import { createRenewalBatches } from '../reminders/batch.ts';
import { createDigests } from '../reminders/store.ts';
import { createRequests } from '../requests/store.ts';
import { createSealedTexts } from '../sealed.ts';
import { createFollowedActs } from '../servers/follow.ts';
import { createServerNotes } from '../servers/notes.ts';
import type { System } from '../system.ts';
import { createWorkflowKeys, createWorkflowRuns } from '../workflows/store.ts';
import { createApiCalls } from './api-calls.ts';
import { createAuditLog } from './audit-log.ts';
import {
  DatabaseUnusable,
  type Engine,
  type EngineOptions,
  type Foundation,
  type Queries,
} from './database.ts';
import { countJobs, createJobStore } from './jobs.ts';
import { createKept, createReplyUrls, createSeenRequests } from './kept.ts';
import { refuseMoved } from './moves.ts';
import { migrate, requireCurrent } from './schema.ts';
import { openSqlite } from './sqlite.ts';
import type { Tables } from './tables.ts';
import type { Vault } from './vault.ts';

export interface StoreOptions {
  /** `sqlite:./path`, `sqlite::memory:` or `postgres://…` (docs/design.md 8, `DATABASE_URL`). */
  readonly databaseUrl: string;
  readonly vault: Vault;
  readonly system: System;
  /** False opens a database that the app has created and may be using: for the command line. Default true. */
  readonly lock?: boolean;
  /** Where paid answers are kept while the database can't take them (`SPILL_DIR`). Default: beside the database. */
  readonly spillDir?: string | undefined;
  /** How many processes share a database server at most; each takes its share of the connections. */
  readonly maxProcesses?: number | undefined;
  /** Tests open one whose statements they can see. */
  readonly openEngine?: typeof openEngine;
}

/**
 * Opens the engine that a `DATABASE_URL` names.
 * @throws DatabaseUnusable, DatabaseInUse
 */
export async function openEngine(databaseUrl: string, options: EngineOptions): Promise<Engine> {
  const [, scheme, rest = ''] = /^(sqlite|postgres(?:ql)?):(.+)$/is.exec(databaseUrl) ?? [];
  if (scheme?.toLowerCase() === 'sqlite') return openSqlite(rest, options);
  // Loaded only where it is used: most apps have SQLite.
  if (scheme) return (await import('./postgres.ts')).openPostgres(databaseUrl, options);
  // The address is not repeated: a mistyped one may hold a password.
  throw new DatabaseUnusable(
    'DATABASE_URL must be written like sqlite:./data/vps.sqlite or postgres://user:password@host:5432/database.',
  );
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
  const foundation = { db, engine, vault, newId: () => engine.clock.newId() };
  const besideDatabase = spillDir ?? engine.besidePath?.('spill');
  try {
    await bringUp(db, engine, vault);
    if (lock) await addKeyChecks(foundation);
    else await requireSealingKey(db, vault);
    // Last, since the checks wait for a copy that is under way.
    await refuseMoved(db);
    if (engine.isSoleProcess) await freeLeases(db);
    // However rarely unconfirmed orders are being looked for by now, a start is a good moment to look.
    const unconfirmed = db.selectFrom('operations').select('id').where('state', '=', 'unconfirmed');
    if (lock) await db.updateTable('jobs').set({ due_at: 0 }).where('key', 'in', unconfirmed).execute();
    const parts = assembleStore(foundation, system, createSpill(besideDatabase, vault, !lock));
    const missing = lock ? (await parts.sealed.openAll()).missingKeys.map(describeMissingKey) : [];
    const notes = [...(lock && besideDatabase ? findFault(besideDatabase) : []), ...missing];
    return { ...parts, notes, close: onlyOnce(() => engine.scrub(db).finally(close)) };
  } catch (error) {
    await close();
    throw error;
  }
}

function describeMissingKey(keyId: string): string {
  return `ENCRYPTION_KEYS lacks the key "${keyId}", which encrypts data that is still needed. Put it back, after the others, and run "vps-slack key rotate" before you remove it.`;
}

/** Why paid answers can't be kept in this folder, for the operator. */
function findFault(folder: string): readonly string[] {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK | constants.X_OK);
    return [];
  } catch {
    return [`The folder ${folder} can't be written to: responses to paid orders can't be kept there.`];
  }
}

function onlyOnce(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}

/**
 * Brings the schema up to date where this process may, and else requires that it is, and that the keys belong to the database.
 * @throws DatabaseUnusable
 */
export async function bringUp(db: Kysely<Tables>, engine: Engine, vault: Vault): Promise<void> {
  const { mayMigrate, migrationDialect } = engine;
  if (!mayMigrate) await requireCurrent(db, engine);
  else if (!migrationDialect) await migrate(db, engine);
  else {
    const patient = new Kysely<Tables>({ dialect: migrationDialect });
    await migrate(patient, engine).finally(() => patient.destroy());
  }
  await requireFittingKeys(db, vault);
}

/** Frees the leases of a killed process, if no other running process can hold them. */
export async function freeLeases(db: Kysely<Tables>): Promise<void> {
  await db.updateTable('jobs').set({ owner: '', lease_until: 0 }).execute();
}

export function assembleStore(foundation: Foundation, system: System, spill: Spill) {
  return {
    workspaces: createWorkspaces(foundation),
    apiKeys: createApiKeys(foundation),
    grants: createGrants(foundation),
    requests: createRequests(foundation),
    ledger: createLedger(foundation),
    passwords: createPasswords(foundation),
    spill,
    audit: createAuditLog(foundation),
    connectLinks: createConnectLinks(foundation),
    seenRequests: createSeenRequests(foundation),
    serverNotes: createServerNotes(foundation),
    homes: createHomes(foundation),
    digests: createDigests(foundation),
    renewalBatches: createRenewalBatches(foundation),
    followedActs: createFollowedActs(foundation),
    workflowKeys: createWorkflowKeys(foundation),
    workflowRuns: createWorkflowRuns(foundation),
    replyUrls: createReplyUrls(foundation),
    kept: createKept(foundation),
    apiCalls: createApiCalls(foundation),
    jobStore: createJobStore(foundation),
    /** The clock that all processes on the store share, and IDs in its order. */
    clock: foundation.engine.clock,
    installationStore: createInstallationStore(foundation),
    sealed: createSealedTexts(foundation),
    counts: () => readCounts(foundation),
    /** Writes to the database and reads it back, for `/readyz`. Rejects if that fails. */
    ping: createPing(foundation, system),
  };
}

/** How long an answer counts: anyone can call `/readyz`, and each write is a durable commit. */
const GOOD_FOR_MS = 1000;

/** Writes and reads one row, and reads the newest of what matters: a full disk or a damaged file answers `select 1`. */
function createPing({ db }: Foundation, system: System): () => Promise<void> {
  let last: { readonly at: number; readonly done: Promise<void> } | undefined;
  return () => {
    if (last && system.elapsed() - last.at < GOOD_FOR_MS) return last.done;
    // Not serializable, so that it is never in the way of a payment.
    const done = db.transaction().execute((trx) => tryOut(trx, system.now()));
    last = { at: system.elapsed(), done };
    return done;
  };
}

async function tryOut(trx: Queries, at: number): Promise<void> {
  await trx
    .insertInto('facts')
    .values({ kind: 'ping', id: '', value: '', at })
    .onConflict((conflict) => conflict.columns(['kind', 'id']).doUpdateSet({ at }))
    .execute();
  await trx
    .selectFrom('facts')
    .select('at')
    .where('kind', '=', 'ping')
    .where('at', '=', at)
    .executeTakeFirstOrThrow();
  await trx.selectFrom('operations').selectAll().orderBy('id', 'desc').limit(1).execute();
  await trx
    .selectFrom('audit')
    .selectAll()
    .orderBy('workspace_id', 'desc')
    .orderBy('seq', 'desc')
    .limit(1)
    .execute();
}

export type Counts = Awaited<ReturnType<typeof readCounts>>;

/** Counts in a few statements over indexes, since monitors ask several times a minute. */
async function readCounts(foundation: Foundation) {
  const { db } = foundation;
  return {
    ...(await countOperations(db)),
    passwords: await countPasswords(db),
    jobs: await countJobs(foundation),
  };
}

/** Counts the operations that haven't ended. Deletes are left out: they cost nothing, and no manager has to resolve them. */
async function countOperations(db: Queries) {
  const rows = await db
    .selectFrom('operations')
    .select(({ fn }) => ['state', fn.countAll().as('count'), fn.min('created_at').as('oldest')])
    .where('kind', '<>', 'delete')
    .where('state', 'in', ['prepared', 'sent', 'unconfirmed'])
    .groupBy('state')
    .execute();
  const count = (state: string) => Number(rows.find((row) => row.state === state)?.count ?? 0);
  const unconfirmed = rows.find(({ state }) => state === 'unconfirmed');
  return {
    operations: {
      prepared: count('prepared'),
      sent: count('sent'),
      unconfirmed: count('unconfirmed'),
    },
    /** When the oldest unconfirmed one was confirmed by its user, in epoch milliseconds. */
    oldestUnconfirmedAt: unconfirmed && Number(unconfirmed.oldest),
  };
}

async function countPasswords(db: Queries) {
  const { unsaved, unopened } = await db
    .selectFrom('passwords')
    .select(({ fn }) => [
      fn.countAll().as('unsaved'),
      fn.countAll().filterWhere('held_until', 'is', null).as('unopened'),
    ])
    .executeTakeFirstOrThrow();
  return { unsaved: Number(unsaved), unopened: Number(unopened) };
}

/**
 * Checks that the ring belongs to the database, and returns the IDs of the keys that the database knows. Changes nothing; a new
 * database takes any ring.
 * @throws DatabaseUnusable when the ring has a different key under a known ID, or no known key
 */
async function requireFittingKeys(db: Queries, { checks }: Vault): Promise<readonly string[]> {
  const rows = await db.selectFrom('facts').selectAll().where('kind', '=', 'key').execute();
  const other = rows.find(({ id, value }) => checks.has(id) && checks.get(id) !== value);
  if (other)
    throw new DatabaseUnusable(
      `ENCRYPTION_KEYS has a different key "${other.id}" than this database was written with: put the original back ` +
        '(a new key needs a new ID), or correct DATABASE_URL.',
    );
  const known = rows.map(({ id }) => id);
  if (known.length > 0 && !known.some((id) => checks.has(id)))
    throw new DatabaseUnusable(
      `ENCRYPTION_KEYS has none of the keys that this database was written with (${known.join(', ')}): put one of them ` +
        'back, after the new ones, or correct DATABASE_URL.',
    );
  return known;
}

/**
 * Stores the check values of the ring's new keys, once a known one fits. If processes with different rings start at once, the
 * first to commit decides which keys are known.
 * @throws DatabaseUnusable as `requireFittingKeys`
 */
async function addKeyChecks({ db, engine, vault }: Foundation): Promise<void> {
  await engine.transact(db, async (trx) => {
    const at = engine.clock.now();
    const known = await requireFittingKeys(trx, vault);
    for (const [id, value] of vault.checks) {
      if (known.includes(id)) continue;
      await trx
        .insertInto('facts')
        .values({ kind: 'key', id, value, at })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
  });
}

/**
 * Checks that the app can open what this process seals.
 * @throws DatabaseUnusable when the ring begins with a key that the app hasn't used here
 */
async function requireSealingKey(db: Queries, { sealingKeyId }: Vault): Promise<void> {
  const known = await db
    .selectFrom('facts')
    .select('id')
    .where('kind', '=', 'key')
    .where('id', '=', sealingKeyId)
    .executeTakeFirst();
  if (known) return;
  throw new DatabaseUnusable(
    `ENCRYPTION_KEYS begins with the key "${sealingKeyId}", which the app hasn't used with this database yet: ` +
      'start the app with the same ENCRYPTION_KEYS first.',
  );
}
