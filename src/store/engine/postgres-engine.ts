import type { Pool } from 'pg';
import type { Engine, EngineOptions } from './engine.ts';
import { DatabaseUnusable } from './errors.ts';
import { createDatabaseClock, postgresMoment } from './postgres-clock.ts';
import { createPostgresDialect } from './postgres-dialect.ts';
import { BUSY, createPool, PATIENT, UNLIMITED } from './postgres-pool.ts';
import { shareConnections } from './postgres-share.ts';
import { createTransact } from './postgres-transact.ts';

const EXAMPLE = 'postgres://user:password@host:5432/database';

/**
 * Opens a database of a PostgreSQL server, for any number of processes at once.
 * @throws DatabaseUnusable
 */
export async function openPostgres(
  url: string,
  { lock, maxProcesses, system }: EngineOptions,
): Promise<Engine> {
  // It is not repeated: it may hold the password.
  if (!URL.canParse(url)) throw new DatabaseUnusable(`DATABASE_URL must be written like ${EXAMPLE}.`);
  const [pool, migrationPool] = [createPool(url, lock ? BUSY : PATIENT), createPool(url, UNLIMITED)];
  const close = async () => {
    for (const one of [pool, migrationPool]) if (!one.ending) await one.end();
  };
  try {
    const { schema, isEmpty } = await examine(pool);
    if (maxProcesses !== undefined) await shareConnections([pool, migrationPool], maxProcesses);
    const clock = await createDatabaseClock(() => readTime(pool), system);
    return {
      dialect: createPostgresDialect(pool),
      migrationDialect: createPostgresDialect(migrationPool),
      schema,
      // The command line may run beside an older app, whose tables it must not change.
      mayMigrate: lock || isEmpty,
      markMigrated: () => undefined,
      isSoleProcess: false,
      skipsLockedRows: true,
      clock,
      moment: postgresMoment,
      transact: createTransact(system),
      // What was deleted is still in its files for a while; every secret is stored encrypted.
      scrub: async () => undefined,
      besidePath: (ending) => `./data/postgres.${ending}`,
      close,
    };
  } catch (error) {
    await close();
    throw error instanceof DatabaseUnusable ? error : new DatabaseUnusable(describeFailure(url, error));
  }
}

/** Looks at what money depends on. @throws DatabaseUnusable */
async function examine(pool: Pool): Promise<{ readonly schema: string; readonly isEmpty: boolean }> {
  const { rows } = await pool.query<{
    schema: string | null;
    encoding: string;
    fsync: string;
    found: unknown;
  }>(
    `select current_schema() as schema, current_setting('server_encoding') as encoding,
      current_setting('fsync') as fsync, to_regclass('kysely_migration') as found`,
  );
  const [row] = rows;
  if (!row?.schema)
    throw new DatabaseUnusable('The database has no schema that its user may use (search_path).');
  if (row.encoding !== 'UTF8')
    throw new DatabaseUnusable(`The database has the encoding ${row.encoding}. Create it with UTF8.`);
  if (row.fsync !== 'on')
    throw new DatabaseUnusable(
      'The database may lose commits in a power failure: turn on its setting fsync.',
    );
  return { schema: row.schema, isEmpty: row.found === null };
}

async function readTime(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ time: number }>(
    'select cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint) as time',
  );
  const [row] = rows;
  if (!row) throw new Error('the database does not know the time');
  return row.time;
}

/** Without the password that an address may hold. */
function describeFailure(url: string, error: unknown): string {
  const cause = error instanceof Error ? error.message || ('code' in error && String(error.code)) : 'unknown';
  return `The database ${placeOfPostgres(url)} can't be used: ${cause || 'no answer'}.`;
}

/** The address of a database without user and password. */
export function placeOfPostgres(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}
