/** Writes the cells of one line as CSV (RFC 4180), without the line end. No cell can run as a spreadsheet formula. */
export function csvLine(cells: readonly (string | number | undefined)[]): string {
  return cells.map((cell) => toCell(cell ?? '')).join(',');
}

/** Writes one cell. An apostrophe keeps text that begins like a formula, such as a label, from running as one. */
function toCell(cell: string | number): string {
  if (typeof cell === 'number') return String(cell);
  const text = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(cell) ? `'${cell}` : cell;
  return /[",;\s]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
