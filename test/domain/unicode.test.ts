import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toCompatible } from '../../src/domain/unicode.ts';
import { startCpuTimer } from '../support/cpu-time.ts';

const letter = fc.oneof(
  fc.constantFrom(
    'a',
    'e',
    ' ',
    '-',
    '\u0301',
    '\u0323',
    '\u0307',
    'é',
    'ﷺ',
    'ｗ',
    'ﾊ',
    'ﾞ',
    '\u1100',
    '\u1161',
    '\u11A8',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
);

test('a text is in the form that Unicode defines, whatever it is made of', () => {
  fc.assert(
    fc.property(fc.array(letter, { maxLength: 200 }), (letters) => {
      const text = letters.join('');
      expect(toCompatible(text)).toBe(text.normalize('NFKC'));
    }),
  );
});

test('a word of thousands of letters loses none, and its accents are put in order in a moment', () => {
  expect(toCompatible('ｗ'.repeat(5000))).toBe('w'.repeat(5000));
  const readMs = startCpuTimer();
  toCompatible(`a${'\u0307'.repeat(50_000)}${'\u0323'.repeat(50_000)}${'\uFF9E\u0323'.repeat(50_000)}`);
  expect(readMs()).toBeLessThan(1000);
});
