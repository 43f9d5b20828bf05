/** Writes the cells of one line as CSV (RFC 4180), without the line end. Spreadsheets can't run what is in them. */
export function csvLine(cells: readonly (string | number | undefined)[]): string {
  return cells.map((cell) => toCell(cell ?? '')).join(',');
}

/** Spreadsheets run cells that begin like a formula, and a label can be any text: an apostrophe before it prevents that. */
function toCell(cell: string | number): string {
  if (typeof cell === 'number') return String(cell);
  const text = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(cell) ? `'${cell}` : cell;
  return /[",;\s]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
