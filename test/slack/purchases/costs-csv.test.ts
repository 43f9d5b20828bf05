import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { money } from '../../../src/core/money.ts';
import type { Costs } from '../../../src/purchases/costs.ts';
import { costsCsvView } from '../../../src/purchases/costs-screen.ts';
import { findViewFaults } from '../../../src/sandbox/slack/block-kit/find-faults.ts';
import { anyText } from '../../support/any-text.ts';

const none = { count: 0, amount: money(0), unpriced: 0 };

function costsOf(labels: readonly string[]): Costs {
  const servers = labels.map((label, at) => {
    const id = 4_000_000 + at;
    const created = { id, label, plan: 'small', creatorId: 'U0MANAGER01', createdAt: 1e12, account: 'a' };
    const server = { id, label, state: 'running', paidUntil: 1e12 };
    return { server, created, price: { monthly: money(590), source: 'catalog' as const } };
  });
  const paid = { since: 0, creates: none, renewals: none, unconfirmed: none, unproven: none };
  return {
    servers,
    monthly: money(0),
    byPlan: [],
    byPerson: [],
    paid,
    isLimited: false,
  };
}

/** The lines of all parts, without the header, and what stands above them. */
function read(labels: readonly string[]) {
  const view = costsCsvView(costsOf(labels), 'EUR');
  const parts = view.blocks.filter(({ type }) => type === 'rich_text').map(textOf);
  const words = JSON.stringify(view.blocks.filter(({ type }) => type === 'section'));
  return { view, parts, rows: parts.join('\n').split('\n').slice(1), words };
}

function textOf(part: unknown): string {
  if (typeof part !== 'object' || part === null) return '';
  if ('text' in part) return String(part.text);
  return Object.values(part).map(textOf).join('');
}

const numbered = (count: number, label = 'web') => Array.from({ length: count }, (_, at) => `${label}-${at}`);

describe('the CSV of the costs', () => {
  it('has all of 2,000 servers with labels of the usual length, in whole rows', () => {
    const { view, parts, rows, words } = read(numbered(2000));
    expect(rows).toHaveLength(2000);
    expect(rows[1999]).toBe(
      '4001999,web-1999,small,5.90,catalog_today,U0MANAGER01,2001-09-09T01:46:40Z,2001-09-09T01:46:40Z',
    );
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(3000);
    expect(words).toContain(`all ${parts.length} parts`);
    expect(words).not.toContain('fit here');
    expect(findViewFaults(view)).toEqual([]);
  });

  it.each([
    ['many servers', numbered(5000)],
    ['long labels', numbered(800, 'x'.repeat(499))],
    ['labels of quotes', numbered(800, '"'.repeat(450))],
    ['labels of several bytes', numbered(2000, '漢字🙂'.repeat(40))],
  ])('says how many of %s don’t fit, and has the others', (_words, labels) => {
    const { view, rows, words } = read(labels);
    expect(findViewFaults(view)).toEqual([]);
    expect(rows.length).toBeGreaterThan(100);
    const rest = labels.length - rows.length;
    expect(words).toContain(`${rest.toLocaleString('en')} more servers don’t fit here`);
  });

  it('has one row for each server, whatever its label, and nothing that a spreadsheet runs', () => {
    const label = fc.oneof(
      anyText({ maxLength: 600 }),
      fc.constantFrom('=1+1', '\t=1', '＝1', '+1', '-1', '@SUM(A1)', 'a\nb', '"', '\u202e=1', ''),
    );
    fc.assert(
      fc.property(fc.array(label, { maxLength: 8 }), (labels) => {
        const { view, rows } = read(labels);
        expect(findViewFaults(view)).toEqual([]);
        expect(rows.filter((row) => row !== '')).toHaveLength(labels.length);
        for (const row of rows) expect(row).not.toMatch(/^\d+,"?\s*[=+\-@＝＋－＠]/);
      }),
    );
  });
});
