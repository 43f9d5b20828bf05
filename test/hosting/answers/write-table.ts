import type { Kind } from './row.ts';

type Judged = Kind | 'misread';

/** Answers of one sort, and what became of each. */
export interface Section {
  readonly name: string;
  readonly rows: readonly { readonly title: string; readonly kind: Judged }[];
}

const COLUMNS: readonly Judged[] = ['understood', 'accepted', 'told', 'refused', 'misread'];
const TITLE_WIDTH = 100;

/** Writes every answer with a mark in one of four columns, and the counts. */
export function writeAnswers(sections: readonly Section[]): string {
  const lines = sections.flatMap(({ name, rows }) => [
    '',
    writeLine(
      name.toUpperCase(),
      COLUMNS.map((column) => (column === 'misread' ? 'silently misread' : column)),
    ),
    ...rows.map(({ title, kind }) =>
      writeLine(
        title,
        COLUMNS.map((column) => (column === kind ? 'x' : '')),
      ),
    ),
    writeLine(`${rows.length} answers`, countOf(rows)),
  ]);
  const all = sections.flatMap(({ rows }) => rows);
  return `${[...lines, '', writeLine(`total ${all.length}`, countOf(all))].join('\n')}\n`;
}

function countOf(rows: Section['rows']): readonly string[] {
  return COLUMNS.map((column) => String(rows.filter(({ kind }) => kind === column).length));
}

function writeLine(title: string, cells: readonly string[]): string {
  const name = title.replaceAll(/\s+/g, ' ').slice(0, TITLE_WIDTH).padEnd(TITLE_WIDTH);
  return `${name} | ${cells.join(' | ')} |`;
}
