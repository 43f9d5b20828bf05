import { SqliteDriver } from 'kysely';

/** Records every statement from now on. The app opens its database itself, so the driver of all databases of SQLite is watched. */
export function watchStatements(): readonly string[] {
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
  return seen;
}
