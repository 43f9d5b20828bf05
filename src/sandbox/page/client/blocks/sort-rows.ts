import { textIn } from '../../../slack/json.ts';
import type { Json } from '../../../slack/page-api.ts';

/** The texts of its cells. */
export type Row = readonly string[];

export interface Order {
  readonly column: number;
  readonly direction: 'ascending' | 'descending';
}

const natural = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Rows in order, `web-2` before `web-10`. */
export function sortRows(rows: readonly Row[], order: Order | undefined): readonly Row[] {
  if (!order) return rows;
  const sign = order.direction === 'ascending' ? 1 : -1;
  return rows.toSorted(
    (one, other) => sign * natural.compare(one[order.column] ?? '', other[order.column] ?? ''),
  );
}

export function filterRows(rows: readonly Row[], typed: string): readonly Row[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = row.join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The next order when a column's head is pressed: up, down, as the app sent it. */
export function nextOrder(order: Order | undefined, column: number): Order | undefined {
  if (order?.column !== column) return { column, direction: 'ascending' };
  return order.direction === 'ascending' ? { column, direction: 'descending' } : undefined;
}

export function rowsOf(block: Json): readonly Row[] {
  const rows = Array.isArray(block.rows) ? block.rows : [];
  return rows.filter(Array.isArray).map((row: unknown[]) => row.map((cell) => textIn(cell, 'text')));
}
