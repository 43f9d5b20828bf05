import { Kysely, sql, type Transaction } from 'kysely';
import { createSpill } from '../purchases/spill.ts';
import type { System } from '../system.ts';
import { DatabaseUnusable, type Engine, placeOfPostgres, type Queries } from './database.ts';
import { markRestored, type Restored, refuseMoved } from './moves.ts';
import { bringUp, freeLeases, openEngine, type StoreOptions } from './open-store.ts';
import type { FactRow, Tables } from './tables.ts';
import type { Vault } from './vault.ts';

interface Move {
  readonly from: string;
  readonly to: string;
  readonly spillDir?: string | undefined;
  readonly vault: Vault;
  readonly system: System;
  readonly report: (words: string) => void;
}

interface Side {
  readonly engine: Engine;
  readonly db: Kysely<Tables>;
}

/**
 * Moves everything that is stored from SQLite to PostgreSQL, in one transaction there, and retires the source: it refuses to
 * open afterwards (docs/design.md 4.10). No app can use the source during the move. At no moment do both open: the target has
 * everything first, but opens only once the source doesn't.
 * Money effect: none; what was confirmed goes on in the target.
 * @throws DatabaseInUse, DatabaseUnusable: each with a sentence for the operator
 */
export async function moveStore(move: Move): Promise<void> {
  requireAddresses(move);
  await withSide(move.from, true, move, async (source) => {
    await requireNothingSpilled(source, move);
    await withSide(move.to, false, move, (target) => carryOut(source, target, move));
  });
}

function requireAddresses({ from, to }: Move): void {
  if (!from.startsWith('sqlite:'))
    throw new DatabaseUnusable('DATABASE_URL must name the SQLite database that is to be moved.');
  if (!/^postgres(ql)?:/.test(to))
    throw new DatabaseUnusable('--to must be written like postgres://user:password@host:5432/database.');
}

async function withSide(
  url: string,
  mustExist: boolean,
  { vault, system }: Move,
  work: (side: Side) => Promise<void>,
) {
  // Copying has no time limit, and neither do migrations.
  const { migrationDialect, ...engine } = await openEngine(url, { lock: true, mustExist, system });
  const db = new Kysely<Tables>({ dialect: migrationDialect ?? engine.dialect });
  try {
    await bringUp(db, engine, vault);
    await work({ engine, db });
  } finally {
    await db.destroy().finally(() => engine.close());
  }
}

/** Paid answers beside the file would be left behind. */
async function requireNothingSpilled({ engine }: Side, { spillDir, vault }: Move): Promise<void> {
  if (spillDir !== undefined) return;
  const { answers, unreadable } = await createSpill(engine.besidePath?.('spill'), vault, true).readAll();
  if (answers.length + unreadable === 0) return;
  throw new DatabaseUnusable(
    'Some responses to paid orders are still in files beside the database. Start the app once to store them, then copy again.',
  );
}

async function carryOut(source: Side, target: Side, { from, to, system, report }: Move): Promise<void> {
  const place = placeOfPostgres(to);
  const left = source.db
    .selectFrom('facts')
    .select('id')
    .where('kind', '=', 'left')
    .where('value', '=', place);
  // If a move ended between its last two steps, only the last one is left to do.
  if (!(await left.executeTakeFirst())) {
    await refuseMoved(source.db);
    await freeLeases(source.db);
    await copyAll(source, target, { kind: 'arriving', id: '', value: from, at: system.now() }, report);
    const row: FactRow = { kind: 'left', id: '', value: place, at: system.now() };
    await source.db.insertInto('facts').values(row).execute();
  }
  const arriving = target.db.deleteFrom('facts').where('kind', '=', 'arriving').returning('id');
  if (!(await arriving.executeTakeFirst())) await refuseMoved(source.db);
  report(`Done. Set DATABASE_URL to ${place} and start the app. The old database no longer opens.`);
}

async function copyAll(source: Side, target: Side, arriving: FactRow, report: Move['report']): Promise<void> {
  // In the order of their names: `operations` come before the `passwords` that refer to them.
  const tables = (await source.db.introspection.getTables()).map(({ name }) => name as keyof Tables).sort();
  await target.db.transaction().execute(async (trx) => {
    await lockEmpty(trx, tables);
    for (const table of tables) {
      const rows = await copyTable(source.db, trx, table, (copied) =>
        report(`${table}: ${copied} rows so far`),
      );
      report(`${table}: ${rows === 1 ? '1 row' : `${rows} rows`}`);
    }
    await trx.insertInto('facts').values(arriving).execute();
  });
}

/** No app that was started on the target too early can write before the copy is whole. */
async function lockEmpty(trx: Transaction<Tables>, tables: readonly (keyof Tables)[]): Promise<void> {
  for (const table of tables) {
    await sql`lock table ${sql.table(table)} in exclusive mode`.execute(trx);
    if ((await sql`select 1 from ${sql.table(table)} limit 1`.execute(trx)).rows.length > 0)
      throw new DatabaseUnusable(
        `The target is not empty: its table ${table} has rows. Name an empty database.`,
      );
  }
}

/**
 * Takes the operator's word that the database was restored from a backup, before the app is started on it.
 * Money effect: nothing that the backup has as confirmed is sent.
 * @throws DatabaseInUse, DatabaseUnusable: each with a sentence for the operator
 */
export async function declareRestored(
  options: Pick<StoreOptions, 'databaseUrl' | 'vault' | 'system' | 'openEngine'>,
): Promise<Restored> {
  const { databaseUrl, vault, system, openEngine: open = openEngine } = options;
  const engine = await open(databaseUrl, { lock: true, mustExist: true, system });
  const db = new Kysely<Tables>({ dialect: engine.dialect });
  try {
    await bringUp(db, engine, vault);
    await refuseMoved(db);
    return await markRestored({ db, engine, vault, newId: () => engine.clock.newId() });
  } finally {
    await db.destroy().finally(() => engine.close());
  }
}

/** As many rows as a statement surely has room for. */
const PAGE = 500;

type Row = Readonly<Record<string, unknown>>;

/** Copies a table of SQLite into an empty one, and returns how many rows it has. @throws DatabaseUnusable when some are missing */
async function copyTable(
  from: Kysely<Tables>,
  to: Transaction<Tables>,
  table: keyof Tables,
  report: (copied: number) => void,
): Promise<number> {
  const target = to.withTables<{ [Name in keyof Tables]: Row }>();
  let after = 0;
  let copied = 0;
  for (;;) {
    const page = await readPage(from, table, after);
    const last = page.at(-1);
    if (!last) break;
    await target
      .insertInto(table)
      .values(page.map(({ rowid, ...row }) => row))
      .execute();
    after = last.rowid;
    copied += page.length;
    if (copied % 10_000 === 0) report(copied);
  }
  if ((await countRows(from, table)) === (await countRows(to, table))) return copied;
  throw new DatabaseUnusable(`Not every row of the table ${table} was copied.`);
}

async function readPage(db: Kysely<Tables>, table: keyof Tables, after: number) {
  const { rows } = await sql<Row & { readonly rowid: number }>`
    select rowid, * from ${sql.table(table)} where rowid > ${after} order by rowid limit ${PAGE}`.execute(db);
  return rows;
}

async function countRows(db: Queries, table: keyof Tables): Promise<number | undefined> {
  const count = sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`;
  return (await count.execute(db)).rows[0]?.count;
}
