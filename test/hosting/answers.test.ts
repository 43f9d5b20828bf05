import { describe, expect, it } from 'vitest';
import { HostingError } from '../../src/domain/errors.ts';
import { CATALOGS } from './answers/catalogs.ts';
import { FIELDS } from './answers/fields.ts';
import { LISTS } from './answers/lists.ts';
import { RECORDS } from './answers/records.ts';
import { REFUSALS } from './answers/refusals.ts';
import { classify, type Row, readRow } from './answers/row.ts';

const TABLE: Readonly<Record<string, readonly Row[]>> = {
  'a list': LISTS,
  'a server in a list': FIELDS,
  'a catalog': CATALOGS,
  'an answer about one server': RECORDS,
  'an error': REFUSALS,
};
const ROWS = Object.values(TABLE).flat();

describe.each(Object.entries(TABLE))('%s', (_, rows) => {
  it('is understood, reported as unreadable or refused, as expected', async () => {
    const wrong: string[] = [];
    for (const row of rows) {
      const made = await readRow(row);
      const kind = classify(row, made);
      if (kind !== row.kind)
        wrong.push(`${row.title}: ${kind} instead of ${row.kind}: ${describeMade(made)}`);
    }
    expect(wrong).toEqual([]);
  });
});

it('is never silently misread, in any of four thousand variants', async () => {
  expect(ROWS.length).toBeGreaterThan(4_000);
  const counts = new Map<string, number>();
  for (const row of ROWS) {
    const kind = classify(row, await readRow(row));
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  expect(counts.get('misread')).toBeUndefined();
  for (const kind of ['understood', 'told', 'refused']) expect(counts.get(kind)).toBeGreaterThan(100);
});

it('keeps every answer out of what is logged', async () => {
  for (const row of ROWS) {
    const made = await readRow(row);
    const text = JSON.stringify(made) + (made instanceof HostingError ? made.stack : '');
    expect(text).not.toMatch(/secret-\d|p<&|pa55word/);
  }
});

it('reports the status of every error and every unreadable answer', async () => {
  for (const row of ROWS) {
    const made = await readRow(row);
    if (made instanceof HostingError) expect(made.details.status).toBeTypeOf('number');
  }
});

function describeMade(made: unknown): string {
  return made instanceof HostingError
    ? `${made.code} ${JSON.stringify(made.details)}`
    : JSON.stringify(made).slice(0, 200);
}
