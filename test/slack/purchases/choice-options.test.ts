import { describe, expect, test } from 'vitest';
import type { Catalog } from '../../../src/core/catalog.ts';
import { money } from '../../../src/core/money.ts';
import {
  CHOICES,
  listChoices,
  listOmissions,
  resolveKeys,
  searchChoices,
  toKeys,
} from '../../../src/purchases/choices.ts';
import { shortKey } from '../../../src/slack/kit/fields.ts';

const START = 'a'.repeat(75);
const CODES = [
  'small',
  `${START}1`,
  `${START}2`,
  `${START}-in-the-middle-1-${'z'.repeat(100)}`,
  `${START}-in-the-middle-2-${'z'.repeat(100)}`,
  'x'.repeat(590),
  '~small',
  shortKey(`${START}1`),
];
const PLAN = { vcpu: 1, ramMb: 2048, diskGb: 25, monthly: money(590) };
const catalog: Catalog = {
  plans: CODES.map((code) => ({ ...PLAN, code })),
  locations: CODES,
  images: CODES,
};

describe('the choices of a catalog with long codes', () => {
  test.each(CHOICES)('offer every %s, with a unique key and text that Slack accepts', (field) => {
    const options = listChoices(catalog, field, 'EUR');
    const keys = options.map(({ value = '' }) => value);
    const texts = options.map(({ text }) => text.text);
    expect(new Set(keys).size).toBe(CODES.length);
    expect(new Set(texts).size).toBe(CODES.length);
    for (const shown of [...keys, ...texts]) expect(shown.length).toBeLessThanOrEqual(75);
  });

  test.each(CODES)('are resolved back to the exact code (%#)', (code) => {
    const order = { plan: code, location: code, image: code, label: 'web-1' };
    expect(resolveKeys(toKeys(order), catalog)).toEqual({ chosen: order, wrong: [] });
  });

  test('show the price of each plan, however long its code', () => {
    for (const { text } of listChoices(catalog, 'plan', 'EUR'))
      expect(text.text).toMatch(/ · 5\.90 EUR\/month$/);
  });

  test('are found by any part of the code, even one that the menu doesn’t show', () => {
    const found = searchChoices(catalog, 'image', '', 'MIDDLE-2');
    expect(found.map(({ value }) => value)).toEqual([shortKey(CODES[4] ?? '')]);
  });

  test('that have left the catalog are explained, and the others are kept', () => {
    const order = { plan: 'small', location: `${START}gone`, image: 'small', label: 'web-1' };
    const { chosen, wrong } = resolveKeys(toKeys(order), catalog);
    expect(wrong).toEqual(['The location you chose is no longer in the catalog. Choose another one.']);
    expect(chosen).toEqual({ plan: 'small', image: 'small', label: 'web-1' });
  });

  test('that are left out, as too long or unreadable, are explained', () => {
    const partial: Catalog = {
      ...catalog,
      images: [...CODES, 'x'.repeat(601), '&'.repeat(500)],
      hasMore: true,
      unreadable: { plans: 1, locations: 0, images: 2 },
    };
    expect(listChoices(partial, 'image', '')).toHaveLength(CODES.length);
    expect(listOmissions(partial)).toEqual([
      'Can’t be ordered from Slack: 2 images with a code that is too long.',
      'Not shown: 1 plan, 2 images that the hosting API returned in a form we can’t read.',
      'The hosting API says that its catalog has more entries than it returned.',
    ]);
    expect(listOmissions(catalog)).toEqual([]);
  });
});
