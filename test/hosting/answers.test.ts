import { afterAll, describe, expect, it } from 'vitest';
import { HostingError } from '../../src/core/errors.ts';
import { CATALOGS } from './answers/catalogs.ts';
import { FIELDS } from './answers/fields.ts';
import { LISTS } from './answers/lists.ts';
import { RECORDS } from './answers/records.ts';
import { REFUSALS } from './answers/refusals.ts';
import { classify, type Row, readRow, type Truth } from './answers/row.ts';
import { writeAnswers } from './answers/write-table.ts';

const TABLE: Readonly<Record<string, readonly Row[]>> = {
  'a list': LISTS,
  'a server in a list': FIELDS,
  'a catalog': CATALOGS,
  'an answer about one server': RECORDS,
  'an error': REFUSALS,
};
const ROWS = Object.values(TABLE).flat();

/** What the client makes of every row, read once. */
const MADE = new Map(await Promise.all(ROWS.map(async (row) => [row, await readRow(row)] as const)));

afterAll(async () => {
  // `ANSWERS=table npx vitest run test/hosting/answers.test.ts` prints the table.
  if (process.env.ANSWERS === 'table') process.stdout.write(writeTable());
});

describe.each(Object.entries(TABLE))('%s', (_, rows) => {
  it('is understood, reported as unreadable or refused, as expected', async () => {
    const wrong: string[] = [];
    for (const row of rows) {
      const made = MADE.get(row);
      const kind = classify(row, made);
      if (kind !== row.kind)
        wrong.push(`${row.title}: ${kind} instead of ${row.kind}: ${describeMade(made)}`);
    }
    expect(wrong).toEqual([]);
  });
});

it('is never silently misread, in any of twelve thousand variants', async () => {
  expect(ROWS.length).toBeGreaterThan(12_000);
  const counts = new Map<string, number>();
  for (const row of ROWS) {
    const kind = classify(row, MADE.get(row));
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  expect(counts.get('misread')).toBeUndefined();
  for (const kind of ['understood', 'accepted', 'told', 'refused'])
    expect(counts.get(kind)).toBeGreaterThan(100);
});

describe('the table', () => {
  /** Rows that the client understands, and a truth that is another one. */
  const lies: readonly (readonly [string, (row: Row) => Row | undefined])[] = [
    ['another server', (row) => lie(row, 'list', (truth) => ({ ...truth, servers: [] }))],
    ['another price', (row) => lie(row, 'catalog', (truth) => ({ ...truth, plans: { s1: 1, s2: 2 } }))],
    ['another result', (row) => lie(row, 'done', (truth) => ({ ...truth, server: { id: '8' } }))],
    ['another error', (row) => lie(row, 'refused', () => ({ of: 'done', server: { id: '7' } }))],
  ];

  it.each(lies)('finds an answer that is silently misread: %s', async (_, tell) => {
    const told = ROWS.filter(({ kind }) => kind !== 'told' && kind !== 'accepted').flatMap(
      (row) => tell(row) ?? [],
    );
    expect(told.length).toBeGreaterThan(10);
    for (const row of told) expect(classify(row, await readRow(row)), row.title).toBe('misread');
  });

  it('finds an answer that proves nothing and is read as proof', async () => {
    const proofs = ROWS.filter(({ truth, kind }) => truth.of === 'done' && kind === 'understood');
    for (const row of proofs) {
      const unknown: Row = { ...row, truth: { of: 'unknown' } };
      expect(classify(unknown, await readRow(unknown)), row.title).toBe('misread');
    }
  });

  it('can be printed with the outcome of every answer', async () => {
    const table = writeTable();
    expect(table.split('\n').length).toBeGreaterThan(ROWS.length);
    expect(table).toMatch(/\| understood \| accepted \| told \| refused \| silently misread \|/);
    expect(table).toMatch(/^total .*\| 0 \|$/m);
  });
});

/** The row with another truth, if its truth is of that kind. */
function lie<Of extends Truth['of']>(
  row: Row,
  of: Of,
  tell: (truth: Extract<Truth, { of: Of }>) => Truth,
): Row | undefined {
  const isOf = (truth: Truth): truth is Extract<Truth, { of: Of }> => truth.of === of;
  return isOf(row.truth) ? { ...row, truth: tell(row.truth) } : undefined;
}

function writeTable(): string {
  const sections = Object.entries(TABLE).map(([name, rows]) => {
    const judged = rows.map((row) => ({ title: row.title, kind: classify(row, MADE.get(row)) }));
    return { name, rows: judged };
  });
  return writeAnswers(sections);
}

it('no answer of the hosting API ends up in what is logged', () => {
  const leaks = [...MADE].filter(([, made]) => {
    const text = JSON.stringify(made) + (made instanceof HostingError ? made.stack : '');
    return /secret-\d|p<&|pa55word/.test(text);
  });
  expect(leaks.map(([{ title }]) => title)).toEqual([]);
});

it('reports the status of every error and every unreadable answer', () => {
  const errors = [...MADE.values()].filter((made) => made instanceof HostingError);
  expect(errors.length).toBeGreaterThan(10_000);
  expect(errors.filter(({ details }) => typeof details.status !== 'number')).toEqual([]);
});

function describeMade(made: unknown): string {
  return made instanceof HostingError
    ? `${made.code} ${JSON.stringify(made.details)}`
    : JSON.stringify(made).slice(0, 200);
}
