import fc from 'fast-check';

const SURROGATES = { from: 0xd800, count: 0x800 };

/** Any character but half of a surrogate pair. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES.count })
  .map((code) => String.fromCodePoint(code < SURROGATES.from ? code : code + SURROGATES.count));

/**
 * Any text. The same as `fc.string({ unit: 'binary' })`, which first makes a table of a million characters: a second of work in
 * each process. Some are of ASCII, among them the names that JavaScript objects are born with.
 */
export const anyText = (length: fc.StringSharedConstraints = {}): fc.Arbitrary<string> =>
  fc.oneof(
    { arbitrary: fc.array(anyCharacter, length).map((characters) => characters.join('')), weight: 3 },
    { arbitrary: fc.string(length), weight: 1 },
  );
