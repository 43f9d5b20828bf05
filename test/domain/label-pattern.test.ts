import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EVERY_SERVER, exactPattern, findPattern, matchesPattern } from '../../src/core/labels.ts';
import { anyText } from '../support/any-text.ts';
import { startCpuTimer } from '../support/cpu-time.ts';

describe('a label pattern', () => {
  test.each([
    ['web-*', 'web-1', true],
    ['web-*', 'WEB-12', true],
    ['web-*', 'web-', true],
    ['web-*', 'my-web-1', false],
    ['*-eu', 'web-1-eu', true],
    ['*-eu', 'web-1-eu-2', false],
    ['a*b*c', 'axxbxxc', true],
    ['a*b*c', 'acb', false],
    ['**', '', true],
    ['web-1', 'web-1', true],
    ['web-1', 'web-12', false],
    ['web?1', 'web-1', false],
    ['web.1', 'web-1', false],
    ['[ab]', 'a', false],
    ['web\\*', 'web*', true],
    ['web\\*', 'web-1', false],
    ['ÄPFEL-*', 'äpfel-1', true],
    ['🚀*', '🚀-1', true],
    [EVERY_SERVER, '', true],
    [EVERY_SERVER, 'anything\nat all', true],
    ['*', 'two\nlines', true],
  ])('%j matches the label %j: %s', (pattern, label, fits) => {
    expect(matchesPattern(pattern, label)).toBe(fits);
  });

  test('made from a label matches only that label, whatever it contains', () => {
    const label = anyText().filter((text) => text !== '');
    fc.assert(
      fc.property(label, label, (one, other) => {
        const pattern = exactPattern(one);
        expect(matchesPattern(pattern, one)).toBe(true);
        expect(matchesPattern(pattern, other)).toBe(one.toLowerCase() === other.toLowerCase());
      }),
    );
  });

  test('can’t be made from an empty label, which would match every server', () => {
    expect(() => exactPattern('')).toThrow('empty label');
  });

  test('matches a label with any text in place of its stars', () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '\\', '*', 'Ä', '-') });
    fc.assert(
      fc.property(fc.array(fc.tuple(part, part), { minLength: 1 }), (parts) => {
        const pattern = parts.map(([fixed]) => fixed && exactPattern(fixed)).join('*');
        const label = parts.map(([fixed, filling], at) => (at === 0 ? fixed : filling + fixed)).join('');
        expect(matchesPattern(pattern, label)).toBe(true);
      }),
    );
  });

  test('matches within 200 ms, however many stars it has', () => {
    const readMs = startCpuTimer();
    expect(matchesPattern('*a'.repeat(50), `${'a'.repeat(400)}b`)).toBe(false);
    expect(readMs()).toBeLessThan(200);
  });

  test.each([
    [' web-* ', 'web-*'],
    ['*', EVERY_SERVER],
    ['***', EVERY_SERVER],
    ['', undefined],
    ['   ', undefined],
    ['a\nb', undefined],
    ['x'.repeat(101), undefined],
    ['x'.repeat(100), 'x'.repeat(100)],
  ])('typed as %j is read as %j', (typed, pattern) => {
    expect(findPattern(typed)).toBe(pattern);
  });
});
