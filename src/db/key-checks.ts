import type { Kysely } from 'kysely';
import { placeOfKey } from '../account/key-store.ts';
import { placeOfPassword } from '../purchases/password-store.ts';
import { judgeEnds } from './audit-chain.ts';
import type { Foundation, Queries } from './database.ts';
import { DatabaseUnusable } from './engine.ts';
import { listExecuted } from './migrate.ts';
import type { Tables } from './tables.ts';
import type { SealedPlace, Vault } from './vault.ts';

/** A value that a key left in the database, and whether the ring's key of that ID fits it. */
interface Trace {
  readonly keyId: string;
  readonly fits: boolean;
}

/**
 * Checks that the ring belongs to the database. Changes nothing, and works before the migrations.
 * @throws DatabaseUnusable when the ring has a different key under a known ID, or no known key
 */
export async function requireFittingKeys(
  db: Kysely<Tables>,
  schema: string | undefined,
  vault: Vault,
): Promise<void> {
  const executed = await listExecuted(db, schema);
  if (executed.length === 0) return;
  const checks = executed.includes('0022-key-checks') ? await readChecks(db, vault) : [];
  judge(checks.length > 0 ? checks : await readSealed(db, vault), vault);
}

/**
 * Stores the check values of the ring's new keys, once a known one fits. If processes with different rings start at once, the
 * first to commit decides which keys are known.
 * @throws DatabaseUnusable as `requireFittingKeys`
 */
export async function addKeyChecks({ db, engine, vault }: Foundation): Promise<void> {
  await engine.transact(db, async (trx) => {
    const checks = await readChecks(trx, vault);
    judge(checks.length > 0 ? checks : await readSealed(trx, vault), vault);
    const known = new Set(checks.map(({ keyId }) => keyId));
    for (const [key_id, value] of vault.checks) {
      if (known.has(key_id)) continue;
      await trx
        .insertInto('key_checks')
        .values({ key_id, value })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
  });
}

/**
 * Checks that the app can open what this process seals.
 * @throws DatabaseUnusable when the ring begins with a key that the app hasn't used here
 */
export async function requireSealingKey(db: Queries, { checks }: Vault): Promise<void> {
  const [first = ''] = checks.keys();
  const known = await db
    .selectFrom('key_checks')
    .select('key_id')
    .where('key_id', '=', first)
    .executeTakeFirst();
  if (known) return;
  throw new DatabaseUnusable(
    `ENCRYPTION_KEYS begins with the key "${first}", which the app hasn't used with this database yet: ` +
      'start the app with the same ENCRYPTION_KEYS first.',
  );
}

function judge(traces: readonly Trace[], { checks }: Vault): void {
  // A row may have been altered, so one that fits is enough to prove a key.
  const proven = new Set(traces.flatMap(({ keyId, fits }) => (fits ? [keyId] : [])));
  const known = new Set(traces.map(({ keyId }) => keyId));
  const other = [...checks.keys()].find((keyId) => known.has(keyId) && !proven.has(keyId));
  if (other !== undefined)
    throw new DatabaseUnusable(
      `ENCRYPTION_KEYS has a different key "${other}" than this database was written with: put the original back ` +
        '(a new key needs a new ID), or correct DATABASE_URL.',
    );
  if (known.size > 0 && proven.size === 0)
    throw new DatabaseUnusable(
      `ENCRYPTION_KEYS has none of the keys that this database was written with (${[...known].join(', ')}): put one of them ` +
        'back, after the new ones, or correct DATABASE_URL.',
    );
}

async function readChecks(db: Queries, { checks }: Vault): Promise<readonly Trace[]> {
  const rows = await db.selectFrom('key_checks').selectAll().execute();
  return rows.map(({ key_id, value }) => ({ keyId: key_id, fits: checks.get(key_id) === value }));
}

/**
 * What a version without check values has left: whatever it sealed, it has audited, or it was an API key. `npm run key` with
 * another ring may have rewritten both, but no root password: where there is one, it decides.
 */
async function readSealed(db: Queries, vault: Vault): Promise<readonly Trace[]> {
  const passwords = await db.selectFrom('passwords').selectAll().execute();
  const keys = await db
    .selectFrom('api_keys')
    .select(['workspace_id', 'set_by', 'set_at', 'sealed'])
    .execute();
  const chains = await db.selectFrom('audit_chains').selectAll().execute();
  const found = passwords.map((row) => traceOf(vault, row.sealed, placeOfPassword(row)));
  const others = [
    ...keys.map((row) => traceOf(vault, row.sealed, placeOfKey(row))),
    ...chains.map(({ workspace_id, ends, signature }) => {
      const verdict = judgeEnds(vault, workspace_id, { ends, signature });
      return { keyId: keyIdOf(signature), fits: verdict === 'signed' };
    }),
  ];
  const decided = new Set(found.map(({ keyId }) => keyId));
  return [...found, ...others.filter(({ keyId }) => keyId !== '' && !decided.has(keyId))];
}

/** The first release bound what it sealed to its place alone, without the facts. */
function traceOf(vault: Vault, sealed: string, bound: SealedPlace): Trace {
  const { facts: _, ...place } = bound;
  return { keyId: keyIdOf(sealed), fits: [bound, place].some((each) => opens(vault, sealed, each)) };
}

function keyIdOf(token: string): string {
  return token.split('.')[1] ?? '';
}

function opens(vault: Vault, sealed: string, place: SealedPlace): boolean {
  try {
    vault.open(sealed, place);
    return true;
  } catch {
    return false;
  }
}
