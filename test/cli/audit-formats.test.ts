import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AUDIT_FORMATS } from '../../src/cli/audit.ts';
import type { StoredEntry } from '../../src/core/audit-entry.ts';
import { money } from '../../src/core/money.ts';
import { anyText } from '../support/any-text.ts';

const entry: StoredEntry = {
  id: '01M3250V002GAXDS26JVS4JWPF',
  seq: 7,
  signature: 'v1.k1.x',
  at: Date.UTC(2026, 0, 31, 12),
  workspaceId: 'T1',
  actorId: 'U1',
  channelId: 'C1',
  surface: 'modal',
  action: 'create',
  actId: 'act',
  serverId: 42,
  label: 'web-1',
  outcome: 'done',
  operationId: 'op',
  money: money(499),
};
const { csv, jsonl } = AUDIT_FORMATS;
if (!csv || !jsonl) throw new Error('a format is missing');

/** Reads CSV as RFC 4180 has it. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '\r\n') rows.push([]);
  }
  return rows.slice(0, -1);
}

const nasty = [
  '=HYPERLINK("https://evil.example","x")',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  ' =1+1',
  'a,b',
  'a"b',
  'a\r\nb',
  '"',
  '<!channel>',
  '漢字 🙂',
  '',
];

describe('CSV', () => {
  test('has a header line, and one line for each entry', () => {
    const [names = [], cells = []] = readCsv(csv.head + csv.write(entry));
    expect(Object.fromEntries(names.map((name, place) => [name, cells[place]]))).toEqual({
      workspaceId: 'T1',
      seq: '7',
      id: entry.id,
      at: '2026-01-31T12:00:00.000Z',
      actorId: 'U1',
      channelId: 'C1',
      surface: 'modal',
      action: 'create',
      actId: 'act',
      serverId: '42',
      label: 'web-1',
      outcome: 'done',
      code: '',
      operationId: 'op',
      money: '4.99',
      signature: 'v1.k1.x',
    });
  });

  test('keeps whatever an entry contains in its cell, and never as a formula', () => {
    const [names = []] = readCsv(csv.head);
    const text = fc.oneof(anyText(), fc.constantFrom(...nasty));
    fc.assert(
      fc.property(text, text, (label, code) => {
        const [cells = [], ...more] = readCsv(csv.write({ ...entry, label, code }));
        expect([cells.length, more]).toEqual([names.length, []]);
        for (const [name, written] of [
          ['label', label],
          ['code', code],
        ] as const) {
          const cell = cells[names.indexOf(name)];
          expect([written, `'${written}`]).toContain(cell);
          expect(cell).not.toMatch(/^\s*[=+\-@]/);
        }
      }),
      { numRuns: 200 },
    );
  });
});

test.each(nasty)('JSON Lines has an entry with the label %j on one line, unchanged', (label) => {
  const line = jsonl.write({ ...entry, label });
  expect(line.indexOf('\n')).toBe(line.length - 1);
  const { at, money: paid, ...same } = JSON.parse(line);
  expect([at, paid]).toEqual(['2026-01-31T12:00:00.000Z', '4.99']);
  const { at: _, money: __, ...rest } = entry;
  expect(same).toEqual({ ...rest, label });
});
