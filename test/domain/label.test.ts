import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  deletionWord,
  freezeLabel,
  isFrozenLabel,
  isIdenticalLabel,
  isSameLabel,
  parseLabel,
} from '../../src/core/labels.ts';
import { anyText } from '../support/any-text.ts';

describe('two labels', () => {
  test.each([
    ['web-1', ' web-1 '],
    ['web-1', 'WEB-1'],
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
    expect(isFrozenLabel(a, freezeLabel(b))).toBe(false);
  });

  test('that only look the same are not identical, so a confirmation for one does not act on the other', () => {
    expect(isIdenticalLabel('web-1', 'WEB-1')).toBe(false);
    expect(isFrozenLabel('WEB-1', freezeLabel('web-1'))).toBe(false);
    expect(isFrozenLabel('web-1', freezeLabel('web-1'))).toBe(true);
  });
});

describe('the label of a new server', () => {
  test('is stored without the spaces around it', () => {
    expect(parseLabel('  web 1 ')).toBe('web 1');
  });

  test.each(['', '   ', 'a\nb', 'x'.repeat(256)])('may not be %j', (typed) => {
    expect(() => parseLabel(typed)).toThrow(expect.objectContaining({ code: 'bad_label' }));
  });
});

describe('the label that is frozen with a confirmation', () => {
  test('is complete for 600 characters and more', () => {
    const label = `web-${'a'.repeat(591)}-prod`;
    expect(freezeLabel(label)).toBe(label);
  });

  test('fits into a modal and is always the same, whatever the label', () => {
    const labels = anyText({ minLength: 0, maxLength: 5000, size: 'max' });
    fc.assert(
      fc.property(labels, (label) => {
        const frozen = freezeLabel(label);
        expect(JSON.stringify(frozen).length).toBeLessThanOrEqual(2500);
        expect(freezeLabel(frozen)).toBe(frozen);
      }),
    );
  });

  test('is shortened to its beginning if it is too long, and differs where beginnings differ', () => {
    expect(freezeLabel('a'.repeat(4000))).toBe(`${'a'.repeat(400)}…`);
    expect(freezeLabel(`b${'a'.repeat(3999)}`)).not.toBe(freezeLabel('a'.repeat(4000)));
    expect(freezeLabel('😀'.repeat(2000))).not.toMatch(/[\uD800-\uDBFF]…/);
  });
});

describe('what is typed to delete a server', () => {
  test.each([
    ['web-1', 'web-1', 'its label'],
    ['  web 1 ', 'web 1', 'its label without the spaces around it, which no form keeps'],
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
