import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql, type Transaction } from 'kysely';
import { DatabaseUnusable } from './errors.ts';
import type { Tables } from './tables.ts';

/** What is not moved: whether the database answers, where it was moved before, and what is known of the database itself. */
type Own = 'pings' | 'moves' | 'identities';
export type MovedTable = Exclude<keyof Tables, Own>;

/** Every table that is moved, those first that others refer to; the compiler asks for a new one here. */
const MOVED: Readonly<Record<MovedTable, true>> = {
  workspaces: true,
  workspace_versions: true,
  key_checks: true,
  api_keys: true,
  account_names: true,
  account_servers: true,
  grants: true,
  access_requests: true,
  approvals: true,
  operations: true,
  passwords: true,
  audit: true,
  audit_chains: true,
  audit_heads: true,
  connect_links: true,
  seen_requests: true,
  reply_urls: true,
  outcome_threads: true,
  api_calls: true,
  locks: true,
  protected_servers: true,
  server_notes: true,
  act_messages: true,
  followed_acts: true,
  followed_servers: true,
  installations: true,
  installation_workspaces: true,
  restores: true,
  digests: true,
  digest_snapshots: true,
  reminder_marks: true,
  renewal_batches: true,
  homes: true,
  workflow_keys: true,
  workflow_runs: true,
};
export const MOVED_TABLES = Object.keys(MOVED) as readonly MovedTable[];

/** So many rows have fewer values than a statement may have. */
const PAGE = 500;

type Row = Readonly<Record<string, unknown>>;

/** Counts the rows of a table. */
export async function countRows(db: Kysely<Tables>, table: MovedTable): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/**
 * Copies a table of SQLite into an empty one, and compares what arrived with what was sent.
 * @throws DatabaseUnusable when a row is not the same there
 */
export async function copyTable(
  from: Kysely<Tables>,
  to: Transaction<Tables>,
  table: MovedTable,
  report: (copied: number) => void,
): Promise<void> {
  let after = 0;
  let copied = 0;
  for (;;) {
    const page = await readPage(from, table, after);
    const last = page.at(-1);
    if (!last) return;
    await insertPage(
      to,
      table,
      page.map(({ rowid, ...row }) => row),
    );
    after = last.rowid;
    copied += page.length;
    report(copied);
  }
}

async function readPage(db: Kysely<Tables>, table: MovedTable, after: number) {
  const { rows } = await sql<Row & { readonly rowid: number }>`
    select rowid, * from ${sql.table(table)} where rowid > ${after} order by rowid limit ${PAGE}`.execute(db);
  return rows;
}

async function insertPage(to: Transaction<Tables>, table: MovedTable, rows: readonly Row[]): Promise<void> {
  const target = to.withTables<{ [Name in MovedTable]: Row }>();
  const arrived = await target.insertInto(table).values(rows).returningAll().execute();
  for (const [at, row] of rows.entries()) {
    if (isDeepStrictEqual({ ...arrived[at] }, row)) continue;
    throw new DatabaseUnusable(`A row of the table ${table} is not the same after it was copied.`);
  }
}
