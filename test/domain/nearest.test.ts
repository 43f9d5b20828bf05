import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findNearest } from '../../src/domain/nearest.ts';
import { startCpuTimer } from '../support/cpu-time.ts';

const commands = ['help', 'list', 'show', 'start', 'stop', 'reboot', 'renew', 'delete', 'status'];

describe('the nearest word', () => {
  it.each([
    ['lits', 'list'],
    ['lst', 'list'],
    ['lisst', 'list'],
    ['rebot', 'reboot'],
    ['REBOOT', 'reboot'],
    ['delte', 'delete'],
    ['statsu', 'status'],
    ['stat', 'start'],
  ])('to %s is %s', (typed, nearest) => {
    expect(findNearest(typed, commands)).toBe(nearest);
  });

  it.each(['destroy', 'xyz', 'deploy-everything', '日本語'])('is none for %s', (typed) => {
    expect(findNearest(typed, commands)).toBeUndefined();
  });

  it('keeps the candidate as it is written', () => {
    expect(findNearest('web-l', ['WEB-1', 'db'])).toBe('WEB-1');
  });

  it('is the first of several equally near ones', () => {
    expect(findNearest('web-3', ['web-1', 'web-2'])).toBe('web-1');
  });

  it('is the word itself if it is a candidate', () => {
    const words = fc.string({ minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(words, fc.array(words), (typed, others) => {
        const nearest = findNearest(typed, [...others, typed]);
        expect(nearest?.toLowerCase().slice(0, 64)).toBe(typed.toLowerCase().slice(0, 64));
      }),
    );
  });

  it('is found at once, however much was typed', () => {
    const labels = Array.from({ length: 3000 }, (_, index) => `${'x'.repeat(290)}${index}`);
    const readMs = startCpuTimer();
    findNearest('y'.repeat(20_000), labels);
    findNearest('x'.repeat(280), labels);
    expect(readMs()).toBeLessThan(3000);
  });
});

describe('of all candidates', () => {
  /** The whole table, without any limit. */
  const countAll = (a: string, b: string): number => {
    const rows = Array.from({ length: a.length + 1 }, (_, row) => [row, ...Array<number>(b.length).fill(0)]);
    rows[0] = Array.from({ length: b.length + 1 }, (_, column) => column);
    const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
    for (let row = 1; row <= a.length; row++) {
      for (let column = 1; column <= b.length; column++) {
        const isSame = a[row - 1] === b[column - 1];
        const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
        const choices = [
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (isSame ? 0 : 1),
        ];
        if (isSwapped && row > 1 && column > 1) choices.push(at(row - 2, column - 2) + 1);
        (rows[row] ?? [])[column] = Math.min(...choices);
      }
    }
    return at(a.length, b.length);
  };

  it('none is nearer than the one that was found', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '1', '-'), minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 8 }), (typed, candidates) => {
        const near = candidates.filter((candidate) => {
          const third = Math.max(1, Math.floor(Math.max(typed.length, candidate.length) / 3));
          return countAll(typed, candidate) <= Math.min(third, 6);
        });
        const [first] = near.sort((a, b) => countAll(typed, a) - countAll(typed, b));
        expect(findNearest(typed, candidates)).toBe(first);
      }),
      { numRuns: 500 },
    );
  });
});
