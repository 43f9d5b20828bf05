import { sql } from 'kysely';
import type { Queries } from '../engine/database.ts';
import { SIGNED_COLUMNS } from './audit-chain.ts';

/** How many entries are looked at between two turns of the event loop. */
const PAGE = 500;

/** An entry as it is found in the table; it may have been tampered with. */
export interface FoundEntry {
  readonly id: string;
  readonly seq: number;
  readonly signature: string;
  readonly cells: Readonly<Record<(typeof SIGNED_COLUMNS)[number], string | null>>;
}

/** Reads the next entries of a chain in the order of their numbers, those included that have no right to be there. */
export async function readPage(
  db: Queries,
  workspaceId: string,
  after?: FoundEntry,
): Promise<readonly FoundEntry[]> {
  let query = db
    .selectFrom('audit')
    // As text: numbers that are too large to be read would be an error, and they are signed as text.
    .select(SIGNED_COLUMNS.map((name) => sql<string | null>`cast(${sql.ref(name)} as text)`.as(name)))
    .select('signature')
    .where('workspace_id', '=', workspaceId);
  if (after) {
    query = query.where((column) =>
      column.or([
        column('seq', '>', after.seq),
        column.and([column('seq', '=', after.seq), column('id', '>', after.id)]),
      ]),
    );
  }
  // By the columns themselves: their names alone would mean the texts.
  const rows = await query.orderBy('audit.seq').orderBy('audit.id').limit(PAGE).execute();
  return rows.map(({ signature, ...cells }) => ({
    id: cells.id ?? '',
    seq: Number(cells.seq),
    signature: String(signature),
    cells,
  }));
}
