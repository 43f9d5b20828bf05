import { type DatabaseConnection, type Dialect, type Driver, SqliteDriver } from 'kysely';
import { openEngine } from '../../src/db/open-store.ts';

/**
 * Records every statement until it is disposed. The app opens its database itself, so the driver of all databases of SQLite is
 * watched, those of other tests in this process too, which it delays.
 */
export function watchStatements() {
  const seen: string[] = [];
  const { acquireConnection } = SqliteDriver.prototype;
  SqliteDriver.prototype.acquireConnection = async function () {
    const connection = await acquireConnection.call(this);
    return {
      streamQuery: connection.streamQuery.bind(connection),
      executeQuery: (query) => {
        seen.push(query.sql);
        return connection.executeQuery(query);
      },
    };
  };
  return {
    seen: seen as readonly string[],
    [Symbol.dispose]: () => {
      SqliteDriver.prototype.acquireConnection = acquireConnection;
    },
  };
}

/** A statement on its way to the database: COMMIT and ROLLBACK are statements, too. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Carries a statement out, or doesn't. */
export type Watch = <Result>(
  statement: Statement,
  run: () => Promise<Result>,
  connection: Watched,
) => Promise<Result>;

/** The connection that a statement came on. */
export interface Watched {
  /** Gives the connection up, as the end of its process does: what it has not committed is undone. */
  abandon(): Promise<void>;
}

/** Opens a database whose statements pass a test. */
export function openWatched(watch: Watch, open = openEngine, watchWait?: WatchWait): typeof openEngine {
  return async (url, options) => {
    const engine = await open(url, options);
    return { ...engine, dialect: watchDatabase(engine.dialect, watch, watchWait) };
  };
}

/** What a dead process waits for. A new promise each time, since one that all waited for would keep everything of theirs. */
export const never = (): Promise<never> => new Promise(() => undefined);

/** Sees each wait for a connection. */
type WatchWait = (connected: Promise<DatabaseConnection>) => void;

/** The same dialect, whose statements pass a test at the border to the database. */
export function watchDatabase(dialect: Dialect, watch: Watch, watchWait: WatchWait = () => {}): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver: () => watchDriver(dialect.createDriver(), watch, watchWait),
  };
}

function watchDriver(driver: Driver, watch: Watch, watchWait: WatchWait): Driver {
  return new Proxy(driver, {
    get: (target, name) => {
      const found: unknown = Reflect.get(target, name);
      if (typeof found !== 'function') return found;
      if (name !== 'acquireConnection') return found.bind(target);
      return async () => {
        const connected = target.acquireConnection();
        watchWait(connected);
        return watchConnection(await connected, target, watch);
      };
    },
  });
}

/** Statements come as compiled queries, or as text where a transaction ends. */
function watchConnection(connection: DatabaseConnection, driver: Driver, watch: Watch): DatabaseConnection {
  const watched: Watched = {
    abandon: async () => {
      await driver.rollbackTransaction(connection);
      await driver.releaseConnection(connection);
    },
  };
  return new Proxy(connection, {
    get: (target, name) => {
      const found: unknown = Reflect.get(target, name);
      if (typeof found !== 'function') return found;
      if (name !== 'executeQuery' && name !== 'run') return found.bind(target);
      return (query: string | Statement, ...rest: readonly unknown[]) => {
        const statement = typeof query === 'string' ? { sql: query, parameters: [] } : query;
        return watch(statement, () => found.call(target, query, ...rest), watched);
      };
    },
  });
}
