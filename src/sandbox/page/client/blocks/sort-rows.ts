import type { Json } from '../../../slack/page-api.ts';
import { isJson, textIn } from '../json.ts';

export type Row = readonly Json[];

export interface Order {
  readonly column: number;
  readonly direction: 'ascending' | 'descending';
}

const natural = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Rows in order; numbers by value, `web-2` before `web-10`. */
export function sortRows(rows: readonly Row[], order: Order | undefined): readonly Row[] {
  if (!order) return rows;
  const sign = order.direction === 'ascending' ? 1 : -1;
  return rows.toSorted((one, other) => sign * compareCells(one[order.column], other[order.column]));
}

function compareCells(one: Json | undefined, other: Json | undefined): number {
  if (typeof one?.value === 'number' && typeof other?.value === 'number') return one.value - other.value;
  return natural.compare(cellText(one), cellText(other));
}

/** The rows in which some cell has all the words that were typed. */
export function filterRows(rows: readonly Row[], typed: string): readonly Row[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = row.map(cellText).join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The next order when a column's head is pressed: up, down, as the app sent it. */
export function nextOrder(order: Order | undefined, column: number): Order | undefined {
  if (order?.column !== column) return { column, direction: 'ascending' };
  return order.direction === 'ascending' ? { column, direction: 'descending' } : undefined;
}

/** The plain text of a cell, to sort and search by. */
export function cellText(cell: unknown): string {
  if (Array.isArray(cell)) return cell.map(cellText).join('');
  if (!isJson(cell)) return '';
  const own = textIn(cell, 'text') || (typeof cell.value === 'number' ? String(cell.value) : '');
  return own || cellText(cell.elements);
}

/** The rows of a table, as lists of cells. */
export function rowsOf(block: Json): readonly (readonly Json[])[] {
  const rows = Array.isArray(block.rows) ? block.rows : [];
  return rows.filter(Array.isArray).map((row: unknown[]) => row.filter(isJson));
}
