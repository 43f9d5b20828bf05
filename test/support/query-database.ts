import { DatabaseSync } from '@photostructure/sqlite';
import { Client } from 'pg';

type Row = Readonly<Record<string, unknown>>;

/** Runs statements on the database of an app, beside its processes or while none runs, and gives the rows of the last one. */
export async function queryDatabase(databaseUrl: string | undefined, sql: string): Promise<readonly Row[]> {
  if (databaseUrl?.startsWith('sqlite:')) {
    // A store of this process reads the same state for the rest of a turn.
    await new Promise((resolve) => setImmediate(resolve));
    const db = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
    try {
      return db.prepare(sql).all() as Row[];
    } finally {
      db.close();
    }
  }
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  // The server may be stopped meanwhile: the query fails then.
  client.on('error', () => undefined);
  await client.connect();
  const results = await client.query<Row>(sql).finally(() => client.end());
  return [results].flat().at(-1)?.rows ?? [];
}
