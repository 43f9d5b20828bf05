import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '@photostructure/sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type LimitNode,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement,
  sql,
  ValueNode,
} from 'kysely';
import {
  DatabaseInUse,
  DatabaseMissing,
  DatabaseUnusable,
  type Engine,
  type EngineOptions,
} from './database.ts';

/** How long a statement waits for another process. It holds the event loop: while it waits, no request is answered. */
const BUSY_TIMEOUT_MS = 5000;
/** The command line can wait longer, beside an app that writes all the time. */
const PATIENT_TIMEOUT_MS = 30_000;
/** How long a start waits for a process that is just ending. */
const LOCK_TIMEOUT_MS = 1000;

/**
 * Opens a file of SQLite, or `:memory:`; the folder and the file are made for their owner only.
 * @throws DatabaseInUse, DatabaseUnusable
 */
export function openSqlite(path: string, { lock, mustExist = !lock, system }: EngineOptions): Engine {
  const isInMemory = path === ':memory:';
  if (mustExist) requireFile(path);
  if (!isInMemory) prepareFile(path);
  const isSoleProcess = lock || isInMemory;
  const timeoutMs = isSoleProcess ? BUSY_TIMEOUT_MS : PATIENT_TIMEOUT_MS;
  const instanceLock = lock && !isInMemory ? takeLock(path) : undefined;
  const connection = connect(path, timeoutMs, instanceLock);
  return {
    dialect: {
      createDriver: () => new ImmediateDriver(connection),
      createQueryCompiler: () => new LiteralLimits(),
      createAdapter: () => new TransactionalAdapter(),
      createIntrospector: (db) => new SqliteIntrospector(db),
    },
    mayMigrate: isSoleProcess,
    isSoleProcess,
    clock: system,
    textType: 'text',
    skipsLockedRows: false,
    // Its processes are on one machine, so they have one clock.
    moment: (at) => sql<number>`${at}`,
    // There is one writing transaction at a time, so nothing is in its way.
    transact: (db, work) => db.transaction().execute(work),
    scrub: (db) =>
      db.connection().execute(async (one) => {
        // Deleted data is zeroed in the file, but stays in the log until that is written back and truncated.
        // A reading process can delay that, so this doesn't wait; the next call tries again.
        await sql`pragma busy_timeout = 0`.execute(one);
        try {
          await sql`pragma wal_checkpoint(truncate)`.execute(one);
        } finally {
          await sql.raw(`pragma busy_timeout = ${timeoutMs}`).execute(one);
        }
      }),
    besidePath: isInMemory ? undefined : (ending) => `${path}.${ending}`,
    close: () => {
      if (connection.isOpen) connection.close();
      if (instanceLock?.isOpen) instanceLock.close();
    },
  };
}

/** Refuses a path without a database, so that a mistyped one creates nothing. @throws DatabaseUnusable */
function requireFile(path: string): void {
  try {
    if (statSync(path).size > 0) return;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && /^ENO(ENT|TDIR)$/.test(String(error.code));
    if (!isMissing) throw new DatabaseUnusable(`The database ${path} can't be opened: ${wordsOf(error)}.`);
  }
  throw new DatabaseMissing(path);
}

/** SQLite copies the mode of the database file to `-wal` and `-shm`, so the file is created before SQLite does it. */
function prepareFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    for (const file of [path, `${path}.lock`]) createPrivately(file);
  } catch (error) {
    throw new DatabaseUnusable(`The database ${path} can't be made: ${wordsOf(error)}.`);
  }
}

/** Never opens an existing file: closing it would drop the locks that this process holds on it (POSIX). */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function connect(path: string, timeoutMs: number, instanceLock?: DatabaseSyncInstance): DatabaseSyncInstance {
  let connection: DatabaseSyncInstance | undefined;
  try {
    connection = new DatabaseSync(path, { timeout: timeoutMs, enableForeignKeyConstraints: true });
    const mode = readPragma(connection, 'journal_mode = wal');
    // Without this the last commits are lost when the power fails: by default this build syncs less in WAL mode.
    connection.exec('pragma synchronous = full');
    connection.exec('pragma secure_delete = on');
    const isSafe = readPragma(connection, 'synchronous') === 2 && (mode === 'wal' || path === ':memory:');
    if (!isSafe) throw new Error("its file system doesn't support durable commits (WAL)");
    return connection;
  } catch (error) {
    connection?.close();
    instanceLock?.close();
    throw new DatabaseUnusable(`The database ${path} can't be opened: ${wordsOf(error)}.`);
  }
}

function readPragma(connection: DatabaseSyncInstance, pragma: string): unknown {
  return Object.values(connection.prepare(`pragma ${pragma}`).get() ?? {})[0];
}

/**
 * Holds a second file exclusively: the operating system frees it when the process ends, however it ends.
 * @throws DatabaseInUse when another process holds it
 */
function takeLock(database: string): DatabaseSyncInstance {
  const path = `${database}.lock`;
  let connection: DatabaseSyncInstance | undefined;
  try {
    connection = new DatabaseSync(path, { timeout: LOCK_TIMEOUT_MS });
    connection.exec('begin exclusive');
    return connection;
  } catch (error) {
    connection?.close();
    const isBusy = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
    if (isBusy) throw new DatabaseInUse(database);
    throw new DatabaseUnusable(`The lock file ${path} can't be used: ${wordsOf(error)}.`);
  }
}

const SQLITE_BUSY = 5;

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}

/** Kysely's driver for SQLite, through the API of `node:sqlite`, over one connection that is open already. */
class ImmediateDriver extends SqliteDriver {
  readonly #connection: DatabaseSyncInstance;

  constructor(connection: DatabaseSyncInstance) {
    super({ database: adapt(connection) });
    this.#connection = connection;
  }

  // A plain `begin` fails with "database is locked" at the first write when another process has written since.
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  // SQLite rolls back by itself when the disk is full; a second rollback would hide that error.
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#connection.isTransaction) await super.rollbackTransaction(connection);
  }
}

/** SQLite prepares a statement again whenever a value is bound to its limit: that takes longer than to run it. */
class LiteralLimits extends SqliteQueryCompiler {
  protected override visitLimit({ limit }: LimitNode): void {
    this.append('limit ');
    this.visitNode(ValueNode.is(limit) ? ValueNode.createImmediate(limit.value) : limit);
  }
}

class TransactionalAdapter extends SqliteAdapter {
  // SQLite supports this although Kysely's own dialect says no: an interrupted migration leaves nothing behind.
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Caches prepared statements: preparing takes most of a query's time, and they are freed only between event-loop turns. */
const MOST_STATEMENTS = 200;

function adapt(connection: DatabaseSyncInstance): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    prepare: (sql) => {
      const known = statements.get(sql);
      if (known) return known;
      if (statements.size >= MOST_STATEMENTS) statements.clear();
      const statement = adaptStatement(connection.prepare(sql));
      statements.set(sql, statement);
      return statement;
    },
    close: () => {
      statements.clear();
      connection.close();
    },
  };
}

function adaptStatement(statement: StatementSyncInstance): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...parameters),
    run: (parameters) => statement.run(...parameters),
    iterate: (parameters) => statement.iterate(...parameters),
  };
}
