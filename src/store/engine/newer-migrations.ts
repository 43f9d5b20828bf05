import type { Queries } from './database.ts';
import { DatabaseUnusable } from './errors.ts';
import type { Migrations, NewerMigrations } from './store-migration.ts';

/** The migration since which a database says which older versions of the app it can still be used with. */
const SAYS_NEEDS = '0013-restores-and-versions';

/**
 * The migrations of newer versions that were executed, where this version can work beside all of them
 * (docs/decisions/0020-versions-side-by-side.md).
 * @throws DatabaseUnusable where it can't
 */
export async function requireCompatible(
  db: Queries,
  executed: readonly string[],
  migrations: Migrations,
): Promise<NewerMigrations> {
  const newer = executed.filter((name) => !Object.hasOwn(migrations, name));
  if (newer.length === 0) return newer;
  const needs = executed.includes(SAYS_NEEDS) ? await readNeeds(db) : new Map<string, string>();
  const isKnown = (name: string | undefined) => name !== undefined && Object.hasOwn(migrations, name);
  const unfit = newer.find((name) => !isKnown(needs.get(name)));
  // What this version would add was never tried on the newer schema.
  const missing = Object.keys(migrations).some((name) => !executed.includes(name));
  if (unfit === undefined && !missing) return newer;
  throw new DatabaseUnusable(
    `The database was changed by a newer version of the app (it has "${unfit ?? newer.at(-1)}"), and this version can't work with ` +
      'it. Start that version.',
  );
}

async function readNeeds(db: Queries): Promise<ReadonlyMap<string, string>> {
  const rows = await db.selectFrom('migration_needs').selectAll().execute();
  return new Map(rows.map(({ name, needs }) => [name, needs]));
}
