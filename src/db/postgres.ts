import type { Pool } from 'pg';
import {
  DatabaseInUse,
  DatabaseMissing,
  DatabaseUnusable,
  type Engine,
  type EngineOptions,
} from './engine.ts';
import {
  ALONE,
  BUSY,
  createDatabaseClock,
  createPool,
  createPostgresDialect,
  isConflict,
  MOST_CONNECTIONS,
  PATIENT,
  postgresMoment,
  UNLIMITED,
} from './postgres-driver.ts';

const EXAMPLE = 'postgres://user:password@host:5432/database';

/**
 * Opens a database of a PostgreSQL server, for any number of processes at once.
 * @throws DatabaseUnusable
 */
export async function openPostgres(
  url: string,
  { lock, mustExist = !lock, maxProcesses, system }: EngineOptions,
): Promise<Engine> {
  // It is not repeated: it may hold the password.
  if (!URL.canParse(url)) throw new DatabaseUnusable(`DATABASE_URL must be written like ${EXAMPLE}.`);
  const isApp = lock && !mustExist;
  const [pool, migrationPool] = [createPool(url, lock ? BUSY : PATIENT, isApp), createPool(url, UNLIMITED)];
  let letAppsIn = async () => {};
  const close = async () => {
    await letAppsIn();
    for (const one of [pool, migrationPool]) if (!one.ending) await one.end();
  };
  try {
    if (lock && mustExist) letAppsIn = await keepAppsOut(url);
    const { schema, isEmpty } = await examine(pool);
    if (mustExist && isEmpty) throw new DatabaseMissing(placeOfPostgres(url));
    if (maxProcesses !== undefined) await shareConnections([pool, migrationPool], maxProcesses);
    const clock = await createDatabaseClock(() => readTime(pool), system);
    return {
      dialect: createPostgresDialect(pool),
      migrationDialect: createPostgresDialect(migrationPool),
      schema,
      // The command line may run beside an older app, whose tables it must not change.
      mayMigrate: lock,
      isSoleProcess: false,
      textType: 'text collate "C"',
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
    if (error instanceof DatabaseUnusable || error instanceof DatabaseInUse) throw error;
    throw new DatabaseUnusable(describeFailure(url, error));
  }
}

/** Keeps apps from connecting until the returned function is called. @throws DatabaseInUse when one is connected */
async function keepAppsOut(url: string): Promise<() => Promise<void>> {
  // A pool of its own, because the others are ended before the work is over.
  const pool = createPool(url, UNLIMITED);
  const client = await pool.connect();
  const end = () => {
    client.release(true);
    return pool.end();
  };
  const { rows } = await client.query<{ is_alone: boolean }>(`select ${ALONE} as is_alone`);
  if (rows[0]?.is_alone) return end;
  await end();
  throw new DatabaseInUse(placeOfPostgres(url));
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

/** One for a transaction, and one for what must not wait for it: a check that the database answers. */
const LEAST_CONNECTIONS = 2;

/** What the server, the database and the role allow; -1 stands for any number. `reserved_connections` is new in PostgreSQL 16. */
const ALLOWED = `select least(
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0),
    (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
    (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)
  ) as allowed`;

/**
 * Lets the pools, of which one is used at a time, open no more than this process's share of the server's connections.
 * @throws DatabaseUnusable when there are too few for so many processes
 */
async function shareConnections(pools: readonly [Pool, ...Pool[]], maxProcesses: number): Promise<void> {
  const { rows } = await pools[0].query<{ allowed: number }>(ALLOWED);
  const allowed = rows[0]?.allowed ?? 0;
  const share = Math.floor(allowed / maxProcesses);
  if (share < LEAST_CONNECTIONS)
    throw new DatabaseUnusable(
      `The database allows ${allowed} connections, too few for ${maxProcesses} processes (MAX_PROCESSES): each needs ` +
        `${LEAST_CONNECTIONS}. Raise max_connections of the server, or lower MAX_PROCESSES.`,
    );
  for (const { options } of pools) options.max = Math.min(MOST_CONNECTIONS, share);
}

/** Of many that meet on one row, one gets through each time. */
const MOST_TRIES = 50;
const LONGEST_PAUSE_MS = 50;

/**
 * Runs transactions as if they ran one after the other (serializable), and repeats those that the database rolls back for
 * that. The retries of this process take turns, so that they are not in each other's way.
 */
function createTransact({ sleep, random }: EngineOptions['system']): Engine['transact'] {
  let last: Promise<unknown> = Promise.resolve();
  const retry = async <Result>(attempt: () => Promise<Result>): Promise<Result> => {
    for (let tries = 2; ; tries++) {
      await sleep(random() * Math.min(2 ** tries, LONGEST_PAUSE_MS));
      try {
        return await attempt();
      } catch (error) {
        if (!isConflict(error) || tries >= MOST_TRIES) throw error;
      }
    }
  };
  return async (db, work) => {
    const attempt = () => db.transaction().setIsolationLevel('serializable').execute(work);
    return attempt().catch((error: unknown) => {
      if (!isConflict(error)) throw error;
      const retried = last.then(() => retry(attempt));
      last = retried.catch(() => undefined);
      return retried;
    });
  };
}
