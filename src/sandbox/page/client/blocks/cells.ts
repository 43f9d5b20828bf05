import type { Json } from '../../../slack/page-api.ts';
import { isJson, textIn } from '../json.ts';

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
