import type { Foundation, Queries } from './database.ts';
import { DatabaseUnusable } from './engine.ts';
import type { Vault } from './vault.ts';

/** A value that a key left in the database, and whether the ring's key of that ID fits it. */
interface Trace {
  readonly keyId: string;
  readonly fits: boolean;
}

/**
 * Checks that the ring belongs to the database. Changes nothing; a new database takes any ring.
 * @throws DatabaseUnusable when the ring has a different key under a known ID, or no known key
 */
export async function requireFittingKeys(db: Queries, vault: Vault): Promise<void> {
  judge(await readChecks(db, vault), vault);
}

/**
 * Stores the check values of the ring's new keys, once a known one fits. If processes with different rings start at once, the
 * first to commit decides which keys are known.
 * @throws DatabaseUnusable as `requireFittingKeys`
 */
export async function addKeyChecks({ db, engine, vault }: Foundation): Promise<void> {
  await engine.transact(db, async (trx) => {
    const at = engine.clock.now();
    const checks = await readChecks(trx, vault);
    judge(checks, vault);
    const known = new Set(checks.map(({ keyId }) => keyId));
    for (const [id, value] of vault.checks) {
      if (known.has(id)) continue;
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
export async function requireSealingKey(db: Queries, { checks }: Vault): Promise<void> {
  const [first = ''] = checks.keys();
  const known = await db
    .selectFrom('facts')
    .select('id')
    .where('kind', '=', 'key')
    .where('id', '=', first)
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
  const rows = await db.selectFrom('facts').selectAll().where('kind', '=', 'key').execute();
  return rows.map(({ id, value }) => ({ keyId: id, fits: checks.get(id) === value }));
}
