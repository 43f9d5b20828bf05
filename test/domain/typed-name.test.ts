import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bareName, foldName } from '../../src/core/labels.ts';

describe('a name as a phone writes it', () => {
  it.each([
    ['web–1', 'an en dash'],
    ['web—1', 'an em dash'],
    ['web−1', 'a minus sign'],
    ['web‑1', 'a non-breaking hyphen'],
    ['ｗｅｂ－１', 'full-width characters'],
    ['WEB-1', 'capitals'],
    ['web-1.', 'a full stop: two spaces become one'],
    ['web-1,', 'a comma'],
    ['web-1 ?!', 'a question'],
    ['`web-1`', 'code'],
    ['```web-1```', 'a code block'],
    ['“web-1”', 'smart quotes'],
    ["'web-1'", 'quotes'],
    ['`web-1`.', 'punctuation after quotes'],
    ['"web-1,"', 'punctuation inside quotes'],
    ['\u2068web-1\u2069', 'marks of direction'],
    ['web\u200b-1', 'a space of no width'],
    [' \u00a0web-1\t', 'spaces around it'],
  ])('%j is read as web-1: %s', (typed) => {
    expect(bareName(typed)).toBe('web-1');
  });

  it.each([
    ['web  1', 'web 1'],
    ['.', '.'],
    ['""', '""'],
    ['1`', '1`'],
    ['`web', '`web'],
    ['"1', '"1'],
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
