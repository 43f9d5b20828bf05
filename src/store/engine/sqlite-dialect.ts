import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement,
} from 'kysely';

/** Lets Kysely speak to SQLite through the API of `node:sqlite`, over one connection that is open already. */
export function createSqliteDialect(connection: DatabaseSyncInstance): Dialect {
  return {
    createDriver: () => new ImmediateDriver(connection),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new TransactionalAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

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
