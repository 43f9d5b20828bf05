import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../src/core/errors.ts';
import { Secret } from '../../src/core/secret.ts';
import { createVault, parseKeyring, type SealedPlace, VaultError } from '../../src/db/vault.ts';
import { anyText } from '../support/any-text.ts';
import { makeKey } from '../support/environment.ts';

const keyText = (id: string, which: number) => `${id}:${makeKey(String(which))}`;
const vault = createVault(parseKeyring(keyText('k1', 1)));
const place: SealedPlace = { table: 'api_keys', row: 'T1', column: 'sealed', workspaceId: 'T1' };
const shortText = anyText({ maxLength: 200 });
/** Any text, often the beginning of this one. */
const cutShort = (token: string) =>
  fc.oneof(
    shortText,
    fc.nat(token.length - 1).map((length) => token.slice(0, length)),
  );
const anyPlace = fc.record({ table: shortText, row: shortText, column: shortText, workspaceId: shortText });

describe('the vault', () => {
  test('opens any text in the place where it was sealed', () => {
    fc.assert(
      fc.property(shortText, anyPlace, (plain, where) => {
        expect(vault.open(vault.seal(plain, where), where)).toBe(plain);
      }),
    );
  });

  test.each(['table', 'row', 'column', 'workspaceId'] as const)('binds a sealed text to its %s', (field) => {
    const token = vault.seal('key', place);
    expect(() => vault.open(token, { ...place, [field]: 'other' })).toThrow(VaultError);
  });

  test('distinguishes places whose names are equal when joined', () => {
    const token = vault.seal('key', { ...place, table: 'ab', row: 'c' });
    expect(() => vault.open(token, { ...place, table: 'a', row: 'bc' })).toThrow(VaultError);
  });

  test('opens no sealed text in which a single bit was changed', () => {
    const token = vault.seal('hunter2', place);
    const [version, keyId, encoded = ''] = token.split('.');
    const bits = Buffer.from(encoded, 'base64url').length * 8;
    fc.assert(
      fc.property(fc.nat(bits - 1), (bit) => {
        const bytes = Buffer.from(encoded, 'base64url');
        bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        expect(() => vault.open(`${version}.${keyId}.${bytes.toString('base64url')}`, place)).toThrow(
          VaultError,
        );
      }),
    );
  });

  test('opens no text that it didn’t seal, nor one that was cut short', () => {
    const token = vault.seal('hunter2', place);
    fc.assert(
      fc.property(cutShort(token), (text) => {
        expect(() => vault.open(text, place)).toThrow(VaultError);
      }),
    );
  });

  test('never seals a text the same way twice, or legibly', () => {
    const tokens = Array.from({ length: 50 }, () => vault.seal('canary-4711', place));
    expect(new Set(tokens).size).toBe(50);
    for (const token of tokens) {
      expect(token).toMatch(/^v1\.k1\.[A-Za-z0-9_-]+$/);
      expect(Buffer.from(token.split('.')[2] ?? '', 'base64url').includes('canary')).toBe(false);
    }
  });
});

describe('a keyring with several keys', () => {
  const old = vault.seal('kept', place);

  test('seals with its first key, and opens with all', () => {
    const rotated = createVault(parseKeyring(`${keyText('k2', 2)}, ${keyText('k1', 1)}`));
    expect(rotated.open(old, place)).toBe('kept');
    expect(rotated.seal('new', place)).toMatch(/^v1\.k2\./);
  });

  test('names the key that is missing', () => {
    const lost = createVault(parseKeyring(keyText('k2', 2)));
    expect(() => lost.open(old, place)).toThrow(
      expect.objectContaining({ code: 'key_unreadable', details: { keyId: 'k1' } }),
    );
    expect(() => lost.open(old, place)).toThrow(Refusal);
  });

  test('opens nothing with another key under the same ID', () => {
    const wrong = createVault(parseKeyring(keyText('k1', 9)));
    expect(() => wrong.open(old, place)).toThrow(VaultError);
  });

  test('opens nothing whose key ID was replaced by another of the ring', () => {
    const twins = createVault(parseKeyring(`${keyText('k1', 1)},${keyText('k2', 1)}`));
    expect(() => twins.open(old.replace('v1.k1.', 'v1.k2.'), place)).toThrow(VaultError);
  });
});

describe('the names of an API key', () => {
  const both = createVault(parseKeyring(`${keyText('k2', 2)},${keyText('k1', 1)}`));

  test('don’t reveal it, differ from those of other API keys, and keep those made with earlier encryption keys', () => {
    const [key, other] = [new Secret('api-key'), new Secret('another')];
    expect(both.namesOf(key).join()).not.toContain('api-key');
    expect(both.namesOf(key)).toHaveLength(2);
    expect(both.namesOf(key).slice(1)).toEqual(vault.namesOf(key));
    expect(both.namesOf(other).filter((name) => both.namesOf(key).includes(name))).toEqual([]);
  });
});

describe('a signature', () => {
  const ring = (...entries: string[]) => createVault(parseKeyring(entries.join(',')));
  const signed = vault.sign('paid', 'audit');

  test('is valid only for the same text and purpose', () => {
    fc.assert(
      fc.property(shortText, shortText, shortText, shortText, (text, purpose, other, another) => {
        const token = vault.sign(text, purpose);
        expect(token).toMatch(/^v1\.k1\.[A-Za-z0-9_-]{43}$/);
        expect(vault.isSigned(token, text, purpose)).toBe(true);
        expect(vault.isSigned(token, other, another)).toBe(text === other && purpose === another);
      }),
    );
  });

  test('is never valid if it was changed or made up', () => {
    fc.assert(
      fc.property(cutShort(signed), (token) => {
        expect(vault.isSigned(token, 'paid', 'audit')).toBe(false);
      }),
    );
    expect(vault.isSigned(`${signed}A`, 'paid', 'audit')).toBe(false);
  });

  test('is made with the first key and checked with all, and names a key that is lost', () => {
    const rotated = ring(keyText('k2', 2), keyText('k1', 1));
    expect(rotated.isSigned(signed, 'paid', 'audit')).toBe(true);
    expect(rotated.sign('paid', 'audit')).toMatch(/^v1\.k2\./);
    expect(() => ring(keyText('k2', 2)).isSigned(signed, 'paid', 'audit')).toThrow(
      expect.objectContaining({ code: 'key_unreadable', details: { keyId: 'k1' } }),
    );
  });

  test('is invalid with another key of the same ID, or another ID of the same key', () => {
    expect(ring(keyText('k1', 9)).isSigned(signed, 'paid', 'audit')).toBe(false);
    const renamed = signed.replace('v1.k1.', 'v1.k2.');
    expect(ring(keyText('k2', 1)).isSigned(renamed, 'paid', 'audit')).toBe(false);
  });
});

describe('the setting ENCRYPTION_KEYS', () => {
  const good = makeKey('good');

  test.each([
    ['no keys', ''],
    ['no id', good],
    ['an id of other letters', `k.1:${good}`],
    ['two colons', `k1:${good}:x`],
    ['a short key', `k1:${Buffer.alloc(31, 5).toString('base64')}`],
    ['hexadecimal', `k1:${Buffer.alloc(32, 5).toString('hex')}`],
    ['an id twice', `k1:${good},k1:${good}`],
    ['a comma at the end', `k1:${good},`],
  ])('is refused with an explanation if it has %s', (_, text) => {
    expect(() => parseKeyring(text)).toThrow(VaultError);
    expect(() => parseKeyring(text)).toThrow(/^key \d [a-z].+/);
  });

  test.each([
    ['equal bytes', Buffer.alloc(32, 7)],
    ['a repeated word', Buffer.alloc(32, 'other bytes')],
    ['bytes that count up', Buffer.from(Array.from({ length: 32 }, (_, at) => at))],
    ['text that was typed', Buffer.from('correct horse battery staple! 42')],
  ])('is refused if a key consists of %s, which is easy to guess', (_, bytes) => {
    expect(() => parseKeyring(`k1:${good},k2:${bytes.toString('base64')}`)).toThrow(
      /^key 2 is easy to guess\. Make a new one with `echo "k2:\$\(openssl rand -base64 32\)"`/,
    );
  });

  test('accepts every random key', () => {
    for (let made = 0; made < 2000; made++) parseKeyring(`k1:${randomBytes(32).toString('base64')}`);
  });

  test('has no part of a key repeated in its errors, wherever the key was put', () => {
    fc.assert(
      fc.property(fc.constantFrom('', 'k1', 'k1:', 'a b:', 'k1:k2:'), fc.nat(40), (head, length) => {
        const secret = randomBytes(length + 6).toString('base64');
        try {
          parseKeyring(`${head}${secret},${secret}`);
        } catch (error) {
          expect(inspect(error).split('\n')[0]).not.toContain(secret.slice(0, 6));
        }
      }),
    );
  });

  test('has no key printed when the keyring is logged', () => {
    const text = keyText('k1', 1);
    const printed = inspect(parseKeyring(text), { depth: 10, showHidden: true });
    const hex = Buffer.from(text.slice(3), 'base64').toString('hex');
    const pairs = hex.match(/../g) ?? [];
    for (const shown of [text.slice(3), hex, pairs.slice(0, 4).join(' ')]) {
      expect(printed).not.toContain(shown);
    }
  });
});
