import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  bareName,
  deletionWord,
  EVERY_SERVER,
  exactPattern,
  findNearest,
  findPattern,
  foldName,
  isIdenticalLabel,
  isSameLabel,
  matchesPattern,
  parseLabel,
} from '../../src/core/labels.ts';
import { anyText } from '../support/any-text.ts';
import { startCpuTimer } from '../support/clocks.ts';

describe('two labels', () => {
  test.each([
    ['web-1', ' WEB-1 '],
    ['caf\u00e9', 'cafe\u0301'],
    ['\uff57eb', 'web'],
    ['ÄÖÜ', 'äöü'],
  ])('%j and %j look the same to users', (a, b) => {
    expect(isSameLabel(a, b)).toBe(true);
  });

  test.each([
    ['web-1', 'web-10'],
    ['web 1', 'web-1'],
    ['web', 'w\u0435b'],
    ['', 'web'],
  ])('%j and %j are different, and look different to users', (a, b) => {
    expect(isSameLabel(a, b)).toBe(false);
    expect(isIdenticalLabel(a, b)).toBe(false);
  });

  test('that only look the same are not identical, so a confirmation for one does not act on the other', () => {
    expect(isIdenticalLabel('web-1', 'WEB-1')).toBe(false);
  });
});

describe('the label of a new server', () => {
  test('is stored without the spaces around it', () => {
    expect(parseLabel('  web 1 ')).toBe('web 1');
  });

  test.each(['', '   ', 'a\nb', 'half \ud83d', 'x'.repeat(256)])('may not be %j', (typed) => {
    expect(() => parseLabel(typed)).toThrow(expect.objectContaining({ code: 'bad_label' }));
  });
});

describe('what is typed to delete a server', () => {
  test.each([
    ['web-1', 'web-1', 'its label'],
    ['<!channel> *x*', '<!channel> *x*', 'its label as it is'],
    ['', '42', 'its id where there is no label'],
    ['a\nb', '42', 'its id where the label has a line break'],
    ['a\u202eb', '42', 'its id where the label turns the direction of reading'],
    ['x'.repeat(151), '42', 'its id where the label is too long for a placeholder'],
    ['مرحبا', 'مرحبا', 'a label that reads from right to left'],
  ])('for %j is %j: %s', (label, word) => {
    expect(deletionWord({ id: 42, label })).toBe(word);
  });

  test('fits the field that it is typed into, whatever the label is', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 300 }), (label) => {
        const word = deletionWord({ id: 42, label });
        expect(word).toBe(word.trim());
        expect(word.length).toBeGreaterThan(0);
        expect(word.length).toBeLessThanOrEqual(150);
        expect(word).not.toMatch(/\p{Cc}/u);
      }),
    );
  });
});

describe('a label pattern', () => {
  test.each([
    ['web-*', 'web-1', true],
    ['web-*', 'WEB-12', true],
    ['web-*', 'my-web-1', false],
    ['*-eu', 'web-1-eu-2', false],
    ['web?1', 'web-1', false],
    ['[ab]', 'a', false],
    ['web\\*', 'web-1', false],
    ['ÄPFEL-*', 'äpfel-1', true],
    [EVERY_SERVER, 'anything\nat all', true],
    [EVERY_SERVER, '', true],
    ['a', '', false],
    ['*', '', true],
    ['*a*b*', 'ba', false],
    ['aba*aba', 'aba', false],
    ['aba*aba', 'ababa', false],
    ['*ab*ab', 'ab', false],
    ['a*ab*b', 'aab', false],
    ['a*bc*bd', 'abcbcbd', true],
    ['web', 'web-1', false],
    ['a.c', 'abc', false],
    ['a\\*c', 'abc', false],
    ['a\\\\*c', 'a\\bc', true],
    ['a\\\\*c', 'a*c', false],
    ['\\a\\*\\\\', 'a*\\', true],
    ['a\\', 'a\\', true],
    ['straße-*', 'STRASSE-1', false],
    ['İ*', 'i̇-1', true],
    ['😀*', '😀-1', true],
    [`${'a'.repeat(99)}*`, 'a'.repeat(255), true],
    [`*${'a'.repeat(99)}`, `${'a'.repeat(254)}b`, false],
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
    ['x'.repeat(101), undefined],
    ['x'.repeat(100), 'x'.repeat(100)],
  ])('typed as %j is read as %j', (typed, pattern) => {
    expect(findPattern(typed)).toBe(pattern);
  });
});

describe('a name as a phone writes it', () => {
  it.each([
    ['web–1', 'an en dash'],
    ['web‑1', 'a non-breaking hyphen'],
    ['ｗｅｂ－１', 'full-width characters'],
    ['web-1.', 'a full stop: two spaces become one'],
    ['`web-1`', 'code'],
    ['“web-1”', 'smart quotes'],
    ['`web-1`.', 'punctuation after quotes'],
    ['\u2068web-1\u2069', 'marks of direction'],
    ['web\u200b-1', 'a space of no width'],
    [' \u00a0web-1\t', 'spaces around it'],
  ])('%j is read as web-1: %s', (typed) => {
    expect(bareName(typed)).toBe('web-1');
  });

  it.each([
    ['web  1', 'web 1'],
    ['""', '""'],
    ['1`', '1`'],
  ])('%j is read as %j', (typed, name) => {
    expect(bareName(typed)).toBe(name);
  });

  it('is never read as empty, and reads the same a second time', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab1-–—.,`"\' “”\u2068!'), maxLength: 12 });
    fc.assert(
      fc.property(text, (typed) => {
        const bare = bareName(typed);
        expect(bareName(bare)).toBe(bare);
        expect(foldName(typed) === '' || bare !== '').toBe(true);
      }),
    );
  });
});

const commands = ['help', 'list', 'show', 'start', 'stop', 'reboot', 'renew', 'delete', 'status'];

describe('the nearest word', () => {
  it.each([
    ['lits', 'list'],
    ['REBOOT', 'reboot'],
    ['stat', 'start'],
  ])('to %s is %s', (typed, nearest) => {
    expect(findNearest(typed, commands)).toBe(nearest);
  });

  it.each(['destroy', 'xyz', 'deploy-everything', '日本語'])('is none for %s', (typed) => {
    expect(findNearest(typed, commands)).toBeUndefined();
  });

  it('counts letters in the wrong order as one mistake, and only the first 64 letters', () => {
    expect(findNearest('wbe-1', ['web-1'])).toBe('web-1');
    expect(findNearest('ewb-1', ['web-2'])).toBeUndefined();
    expect(findNearest('x'.repeat(70), [`${'x'.repeat(64)}yyyyyy`])).toBe(`${'x'.repeat(64)}yyyyyy`);
  });
});
