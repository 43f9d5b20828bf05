import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { Refusal } from '../core/errors.ts';
import type { AccountNames } from '../core/ids.ts';
import type { Secret } from '../core/secret.ts';

/** Where a sealed text is kept; it opens nowhere else. */
export interface SealedPlace {
  readonly table: string;
  readonly row: string;
  readonly column: string;
  readonly workspaceId: string;
  /** What else of the row must be as it was when the text was sealed: whose it is, and what it belongs to. */
  readonly facts?: readonly (string | number)[];
}

/** Encrypts texts for the database and decrypts them, and signs what must not be altered (docs/design.md 5). */
export type Vault = ReturnType<typeof createVault>;

/** Keys by id, in the order of `ENCRYPTION_KEYS`: the first seals, all open. */
type Keyring = ReadonlyMap<string, KeyObject>;

/** A sealed text that can't be opened, or a keyring that can't be read. The message holds no key and no text. */
export class VaultError extends Error {
  override readonly name = 'VaultError';
}

const VERSION = 'v1';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
// Without the length Node accepts shorter tags, and a shorter tag is easier to forge.
const TAG = { authTagLength: TAG_BYTES };
const TOKEN = /^v1\.([A-Za-z0-9_-]{1,32})\.[A-Za-z0-9_-]+$/;

/**
 * Reads `id:base64,id:base64`, 32 bytes each (docs/design.md 8.8).
 * @throws VaultError naming the faulty entry by its position only: an id may be a key put in the wrong place
 */
export function parseKeyring(text: string): Keyring {
  const keys = new Map<string, KeyObject>();
  for (const [index, entry] of text.split(',').entries()) {
    const fault = (words: string) => new VaultError(`key ${index + 1} ${words}`);
    const [id = '', encoded, ...rest] = entry.trim().split(':');
    if (encoded === undefined || rest.length > 0) throw fault('is not written as id:base64, such as k1:…');
    if (!/^[A-Za-z0-9_-]{1,32}$/.test(id)) {
      throw fault('needs an ID of 1 to 32 letters, digits, "_" or "-"');
    }
    if (keys.has(id)) throw fault('has the same ID as one before it');
    const bytes = Buffer.from(encoded, 'base64');
    // Node skips what is not base64; only a text that comes out the same again was meant as it stands.
    if (bytes.toString('base64') !== encoded) throw fault('is not base64 with its padding');
    if (bytes.length !== KEY_BYTES) throw fault(`must be ${KEY_BYTES} bytes long, but is ${bytes.length}`);
    if (isWeak(bytes))
      throw fault(
        `is easy to guess. Make a new one with \`echo "k${index + 1}:$(openssl rand -base64 32)"\``,
      );
    keys.set(id, createSecretKey(bytes));
  }
  return keys;
}

/** Random bytes have about 30 different values in 32: the chance of fewer than this is below one in 10^12. */
const LEAST_DIFFERENT = 16;

/** Recognizes keys that were typed or copied from an example: repeated bytes, counted bytes, readable text. */
function isWeak(bytes: Buffer): boolean {
  const steps = bytes.map((byte, at) => byte - (bytes[at - 1] ?? 0));
  const isText = bytes.every((byte) => byte >= 0x20 && byte <= 0x7e);
  return isText || new Set(bytes).size < LEAST_DIFFERENT || new Set(steps).size < LEAST_DIFFERENT;
}

/** Makes a vault of a keyring: AES-256-GCM, a random nonce for each text, the place as associated data. */
export function createVault(keyring: Keyring) {
  const [sealingKeyId = '', ...otherKeyIds] = keyring.keys();
  const sign = createSigner(keyring);
  /** One command asks for the names of the key that it has read several times. */
  const named = new WeakMap<Secret<string>, AccountNames>();
  return {
    sealingKeyId,
    /** Returns a token `v1.<key id>.<base64url of a keyed hash>`: the same for the same text, purpose and key. */
    sign: (text: string, purpose: string): string => sign(text, purpose, sealingKeyId),
    /** Returns the names of an API key, one by each key of the ring and in its order. */
    namesOf: (apiKey: Secret<string>): AccountNames => {
      const known = named.get(apiKey);
      if (known) return known;
      const nameBy = (keyId: string) => sign(apiKey.reveal(), 'api_key', keyId);
      const names: AccountNames = [nameBy(sealingKeyId), ...otherKeyIds.map(nameBy)];
      named.set(apiKey, names);
      return names;
    },
    /** For each key of the ring, by its ID and in order, a value that only this key produces; it decrypts nothing. */
    checks: new Map([...keyring.keys()].map((keyId) => [keyId, sign('', 'key check', keyId)])),
    /**
     * Whether the token was made of exactly this text for this purpose, under any key of the ring.
     * @throws Refusal `key_unreadable` when the keyring has lost the key that signed it
     */
    isSigned: (token: string, text: string, purpose: string): boolean => {
      const [, keyId] = TOKEN.exec(token) ?? [];
      if (keyId === undefined) return false;
      const [given, right] = [Buffer.from(token), Buffer.from(sign(text, purpose, keyId))];
      return given.length === right.length && timingSafeEqual(given, right);
    },
    /** Returns a token `v1.<key id>.<base64url of nonce, ciphertext and tag>`. */
    seal: (plain: string, place: SealedPlace): string => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, getKey(keyring, sealingKeyId), nonce, TAG);
      cipher.setAAD(bind(sealingKeyId, place));
      const sealed = Buffer.concat([
        nonce,
        cipher.update(plain, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return `${VERSION}.${sealingKeyId}.${sealed.toString('base64url')}`;
    },
    /**
     * @throws Refusal `key_unreadable` when the keyring has lost the key that sealed it;
     * VaultError when the token was altered, or sealed for another place
     */
    open: (token: string, place: SealedPlace): string => {
      const [version, keyId = '', encoded = '', ...rest] = token.split('.');
      const sealed = Buffer.from(encoded, 'base64url');
      const isWhole = sealed.length >= NONCE_BYTES + TAG_BYTES && sealed.toString('base64url') === encoded;
      if (version !== VERSION || rest.length > 0 || !isWhole) throw doesNotOpen(place);
      const key = getKey(keyring, keyId);
      try {
        return decrypt(key, sealed, bind(keyId, place));
      } catch {
        throw doesNotOpen(place);
      }
    },
  };
}

/** HMAC-SHA256 under a key made of the ring's for each purpose (RFC 5869): no key does two kinds of work. */
function createSigner(keyring: Keyring): (text: string, purpose: string, keyId: string) => string {
  const derived = new Map<string, KeyObject>();
  const getDerived = (purpose: string, keyId: string): KeyObject => {
    const use = JSON.stringify([VERSION, keyId, purpose]);
    const known = derived.get(use);
    if (known) return known;
    const made = createSecretKey(Buffer.from(hkdfSync('sha256', getKey(keyring, keyId), '', use, KEY_BYTES)));
    derived.set(use, made);
    return made;
  };
  return (text, purpose, keyId) => {
    const hash = createHmac('sha256', getDerived(purpose, keyId)).update(text, 'utf8').digest('base64url');
    return `${VERSION}.${keyId}.${hash}`;
  };
}

function decrypt(key: KeyObject, sealed: Buffer, associated: Buffer): string {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), TAG);
  decipher.setAAD(associated);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  return Buffer.concat([plain, decipher.final()]).toString('utf8');
}

/** A JSON array, so that no two places are written alike, whatever their names contain. */
function bind(keyId: string, { workspaceId, table, row, column, facts = [] }: SealedPlace): Buffer {
  return Buffer.from(JSON.stringify([VERSION, keyId, workspaceId, table, row, column, ...facts]), 'utf8');
}

function getKey(keyring: Keyring, keyId: string): KeyObject {
  const key = keyring.get(keyId);
  if (!key) throw new Refusal('key_unreadable', { keyId });
  return key;
}

function doesNotOpen(place: SealedPlace): VaultError {
  return new VaultError(
    `what is sealed in ${place.table}.${place.column} was altered, or belongs to another row`,
  );
}
