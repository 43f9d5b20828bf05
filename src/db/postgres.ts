import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
  type TransactionSettings,
} from 'kysely';
import { type ClientBase, DatabaseError, Pool, type PoolClient, types } from 'pg';
import { DatabaseUnreachable } from '../core/errors.ts';
import { createIds } from '../system.ts';
import {
  CommitUnknown,
  DatabaseInUse,
  DatabaseMissing,
  DatabaseUnusable,
  type Engine,
  type EngineOptions,
  placeOfPostgres,
} from './database.ts';

/**
 * Opens a database of a PostgreSQL server, for any number of processes at once.
 * @throws DatabaseUnusable
 */
export async function openPostgres(
  url: string,
  { lock, mustExist = !lock, maxProcesses, system }: EngineOptions,
): Promise<Engine> {
  // It is not repeated: it may hold the password.
  if (!URL.canParse(url))
    throw new DatabaseUnusable(
      'DATABASE_URL must be written like postgres://user:password@host:5432/database.',
    );
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

/** When many transactions meet on one row, one of them gets through each time. */
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

/** Creates the dialect, in which a commit counts only if the server answers COMMIT. */
export function createPostgresDialect(pool: Pool): Dialect {
  return {
    createDriver: () => new PostgresDriver(pool),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}

/** Lets Kysely speak to PostgreSQL over connections that may be lost at any moment. */
class PostgresDriver implements Driver {
  readonly #pool: Pool;
  readonly #nameOf = createNames();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async init(): Promise<void> {}

  /** @throws DatabaseUnreachable */
  async acquireConnection(): Promise<LentConnection> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw new DatabaseUnreachable(error);
    });
    return new LentConnection(client, this.#nameOf);
  }

  async beginTransaction(connection: DatabaseConnection, { isolationLevel }: TransactionSettings) {
    const level = isolationLevel ? ` isolation level ${isolationLevel}` : '';
    await connection.executeQuery(CompiledQuery.raw(`start transaction${level}`));
  }

  /** @throws CommitUnknown unless the database itself says that it rolled back */
  async commitTransaction(connection: LentConnection): Promise<void> {
    const { command } = await connection.run('commit').catch((error: unknown) => {
      throw provesRollback(error) ? error : new CommitUnknown(error);
    });
    // This is how it answers when a statement had failed unnoticed.
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back');
  }

  async rollbackTransaction(connection: LentConnection): Promise<void> {
    // The database rolls back by itself when the connection is lost; another error would hide the first one.
    if (!connection.isBroken()) await connection.run('rollback');
  }

  async releaseConnection(connection: LentConnection): Promise<void> {
    connection.release();
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

/** A connection keeps the plans of its statements; those with lists of any length are too many to keep. */
const MOST_NAMES = 200;

/** Names statements, so that each connection parses and plans them once. */
function createNames() {
  const names = new Map<string, string>();
  return (sql: string): string | undefined => {
    const known = names.get(sql);
    if (known !== undefined || names.size >= MOST_NAMES) return known;
    const name = `s${names.size}`;
    names.set(sql, name);
    return name;
  };
}

/** A connection for one transaction or statement; a broken one doesn't go back to the pool. */
class LentConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #nameOf: (sql: string) => string | undefined;
  #broken: Error | undefined;

  constructor(client: PoolClient, nameOf: (sql: string) => string | undefined) {
    this.#client = client;
    this.#nameOf = nameOf;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows } = await this.run(sql, parameters);
    return { rows };
  }

  /** @throws DatabaseUnreachable when the connection was lost; what the database says about the statement */
  async run(sql: string, parameters: readonly unknown[] = []) {
    if (this.#broken) throw this.#broken;
    try {
      // Without parameters, it is sent in one message, as a simple query.
      const name = parameters.length > 0 ? this.#nameOf(sql) : undefined;
      return await this.#client.query({ name, text: sql, values: parameters.map(cleanText) });
    } catch (error) {
      if (isStatementError(error)) throw error;
      this.#broken = isDefect(error) ? error : new DatabaseUnreachable(error);
      throw this.#broken;
    }
  }

  streamQuery(): never {
    throw new Error('queries are not streamed');
  }

  isBroken(): boolean {
    return this.#broken !== undefined;
  }

  release(): void {
    this.#client.release(this.#broken);
  }
}

/**
 * Errors after which a connection is of no more use: the database ends it (a shutdown, a lost or confused client, one that idled too
 * long), or a statement that it had prepared has gone, or fits its tables no longer.
 */
const ENDS_CONNECTION = /^(57P|08|25P0[34]|26000|0A000)/;

/** Whether the database refused this statement alone: the connection is as good as before. Its words may be in any language. */
function isStatementError(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && !ENDS_CONNECTION.test(error.code ?? '08');
}

/** Whether a value could not be sent or read, which says nothing about the connection: it is closed to be safe. */
function isDefect(error: unknown): error is Error {
  return error instanceof RangeError || error instanceof TypeError;
}

/** Whether a commit failed for a conflict or a constraint. After any other error (40003, too) it may have been stored. */
function provesRollback(error: unknown): boolean {
  return error instanceof DatabaseError && /^(40(?!003)|23)/.test(error.code ?? '');
}

/** Whether a transaction was rolled back because another one was in its way. */
function isConflict(error: unknown): boolean {
  return isStatementError(error) && (error.code === '40001' || error.code === '40P01');
}

/** A character that the database can't store becomes the sign for one; what users type must not be an error. */
function cleanText(parameter: unknown): unknown {
  return typeof parameter === 'string' ? parameter.replaceAll('\0', '\uFFFD') : parameter;
}

/** How long the database may take, in milliseconds; 0 is without limit. */
interface Patience {
  readonly statementMs: number;
  /** For a lock that another transaction holds. */
  readonly lockMs: number;
  /** Between two statements of a transaction: frees the locks of a process that froze or lost its network. */
  readonly idleMs: number;
  /** For an answer of any kind; longer than a statement, so that the database says first what is wrong. */
  readonly answerMs: number;
}

/** For the app. */
export const BUSY: Patience = { statementMs: 10_000, lockMs: 5000, idleMs: 15_000, answerMs: 15_000 };
/** The command line can wait for longer. */
const PATIENT: Patience = { statementMs: 60_000, lockMs: 30_000, idleMs: 60_000, answerMs: 90_000 };
/** Migrations, and copying a whole store. */
const UNLIMITED: Patience = { statementMs: 0, lockMs: 0, idleMs: 0, answerMs: 0 };

/** Enough for one process: no transaction waits for anything outside of the database. */
const MOST_CONNECTIONS = 10;
const CONNECT_MS = 5000;

/**
 * Opens connections when they are needed. A lost connection is replaced by the next query that needs one, so the app recovers
 * by itself when the database comes back.
 */
export function createPool(url: string, patience: Patience, isApp = false): Pool {
  const pool = new Pool({
    connectionString: url,
    max: MOST_CONNECTIONS,
    // Keeps one connection open, so that an idle app still counts as running.
    min: isApp ? 1 : 0,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: patience.answerMs,
    keepAlive: true,
    fallback_application_name: 'vps-slack',
    types: { getTypeParser },
    onConnect: (client) => prepareSession(client, patience, isApp),
  });
  // A connection that is lost while idle is replaced; without a listener this would end the process.
  const ignore = () => undefined;
  pool.on('error', ignore);
  pool.on('connect', (client) => void client.on('error', ignore));
  return pool;
}

/** One lock per schema, since a database may have several. */
const PRESENCE = `hashtext('vps-slack'), hashtext(coalesce(current_schema(), ''))`;
/** True if no app is connected; none can connect while this session lasts. */
const ALONE = `pg_try_advisory_lock(${PRESENCE})`;

const INT8 = 20;

// The types of `pg` give every parser another signature; ours is the one for text.
const getTypeParser: typeof types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === INT8 ? parseInt8 : types.getTypeParser(oid, format as 'text');

/** Times, amounts and counts are numbers in every engine. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('a number in the database is too large to be read');
  return value;
}

/**
 * A commit has to be durable, on synchronous replicas too if the database has any, before a paid request is sent: where the
 * database is set to less, the session asks for it. Each session of an app holds a shared lock, which shows that the app is running.
 * @throws DatabaseUnusable for a replica that can't be written, and while a program keeps apps out
 */
async function prepareSession(
  client: ClientBase,
  { statementMs, lockMs, idleMs }: Patience,
  isApp: boolean,
): Promise<void> {
  const { rows } = await client.query<{ read_only: string; is_open: boolean }>(
    `select set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false),
      set_config('idle_in_transaction_session_timeout', $3, false),
      set_config('synchronous_commit', case current_setting('synchronous_commit')
        when 'remote_apply' then 'remote_apply' else 'on' end, false),
      current_setting('transaction_read_only') as read_only,
      case when $4::boolean then pg_try_advisory_lock_shared(${PRESENCE}) else true end as is_open`,
    [String(statementMs), String(lockMs), String(idleMs), isApp],
  );
  if (rows[0]?.read_only === 'on')
    throw new DatabaseUnusable('The database is read-only: DATABASE_URL names a replica. Name the primary.');
  if (!rows[0]?.is_open)
    throw new DatabaseUnusable('"vps-slack store restored" is using the database. Wait until it finishes.');
}

/** This machine's quartz is off by a few milliseconds at most after this long. */
const GOOD_FOR_MS = 30_000;

/**
 * The database's clock as this process knows it: read at the start and now and then, and counted on by the monotonic clock. The
 * wall clocks of the machines may differ; statements that decide who holds what use `postgresMoment`.
 */
async function createDatabaseClock(
  read: () => Promise<number>,
  system: EngineOptions['system'],
): Promise<Engine['clock']> {
  let known = await readTwice(read, system);
  let isReading = false;
  const refresh = async () => {
    if (isReading) return;
    isReading = true;
    // Without a database the old reading has to do.
    known = await readTwice(read, system).catch(() => known);
    isReading = false;
  };
  const now = () => {
    const passedMs = system.elapsed() - known.at;
    if (passedMs > GOOD_FOR_MS) void refresh();
    return Math.round(known.time + passedMs);
  };
  return { now, newId: createIds(now, system.random) };
}

/** Epoch milliseconds at the database, and when that was on the monotonic clock: in the middle of the question and the answer. */
async function readTwice(read: () => Promise<number>, { elapsed }: EngineOptions['system']) {
  const sentAt = elapsed();
  const time = await read();
  return { time, at: (sentAt + elapsed()) / 2 };
}

/** When the database received the statement, in epoch milliseconds. */
const DATABASE_NOW = sql<number>`cast(floor(extract(epoch from statement_timestamp()) * 1000) as bigint)`;

/** A moment so far from the time at which the database runs the statement. */
const postgresMoment: Engine['moment'] = (at, now) =>
  sql<number>`(${DATABASE_NOW} + cast(${Math.round(at - now)} as bigint))`;
