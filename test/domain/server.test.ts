import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareServers, countPaidDays, deletionWord, sameLabel } from '../../src/domain/server.ts';

const DAY_MS = 86_400_000;

describe('the paid days that are left', () => {
  it.each([
    [30 * DAY_MS, 30],
    [30 * DAY_MS - 1, 29],
    [DAY_MS - 1, 0],
    [0, 0],
    [-5 * DAY_MS, 0],
  ])('after %i ms are %i', (left, days) => {
    expect(countPaidDays(1_790_000_000_000 + left, 1_790_000_000_000)).toBe(days);
  });
});

describe('labels', () => {
  it.each([
    ['web-1', ' web-1 '],
    ['web-1', 'WEB-1'],
    ['caf\u00e9', 'cafe\u0301'],
    ['\uff57eb', 'web'],
    ['ÄÖÜ', 'äöü'],
  ])('%j and %j are the same for people', (a, b) => {
    expect(sameLabel(a, b)).toBe(true);
  });

  it.each([
    ['web-1', 'web-10'],
    ['web 1', 'web-1'],
    ['web', 'w\u0435b'],
    ['', 'web'],
  ])('%j and %j are not', (a, b) => {
    expect(sameLabel(a, b)).toBe(false);
  });

  it('are sorted with the numbers in them by value, and by id where they are the same', () => {
    const labels = ['web-10', 'Web-2', 'db', 'web-1', 'db'];
    const sorted = labels.map((label, id) => ({ id, label, state: '' })).sort(compareServers);
    expect(sorted.map(({ id, label }) => `${label} ${id}`)).toEqual([
      'db 2',
      'db 4',
      'web-1 3',
      'Web-2 1',
      'web-10 0',
    ]);
  });
});

describe('what is typed to delete a server', () => {
  it.each([
    ['web-1', 'web-1', 'its label'],
    ['  web 1 ', 'web 1', 'its label without the blanks around it, which no form keeps'],
    ['<!channel> *x*', '<!channel> *x*', 'its label as it is'],
    ['', '42', 'its id where there is no label'],
    ['   ', '42', 'its id where the label is blank'],
    ['a\nb', '42', 'its id where the label has a line break'],
    ['a\u0000b', '42', 'its id where the label has a control character'],
    ['a\u202eb', '42', 'its id where the label turns the direction of reading'],
    ['a\u2028b', '42', 'its id where the label has a line separator'],
    ['x'.repeat(151), '42', 'its id where the label is too long for a placeholder'],
    ['مرحبا', 'مرحبا', 'a label that reads from right to left'],
  ])('for %j is %j: %s', (label, word) => {
    expect(deletionWord({ id: 42, label })).toBe(word);
  });

  it('fits the field that it is typed into, whatever the label is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (label) => {
        const word = deletionWord({ id: 42, label });
        expect(word).toBe(word.trim());
        expect(word.length).toBeGreaterThan(0);
        expect(word.length).toBeLessThanOrEqual(150);
        expect(word).not.toMatch(/\p{Cc}/u);
      }),
    );
  });
});
