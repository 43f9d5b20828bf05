import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { format, inspect } from 'node:util';
import { serialize } from 'node:v8';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { HostingError, isExpected, Refusal } from '../../src/core/errors.ts';
import { Secret } from '../../src/core/secret.ts';

const CANARY = 'correct-horse-battery';
const secret = new Secret(CANARY);
const around = { key: secret, list: [secret], deep: { a: { b: { c: { d: secret } } } } };

function gather(write: (into: Writable) => void): string {
  const chunks: string[] = [];
  write(new Writable({ write: (chunk, _encoding, done) => done(void chunks.push(String(chunk))) }));
  return chunks.join('');
}

const ways: [string, () => string][] = [
  ['JSON.stringify', () => JSON.stringify(secret)],
  ['a template', () => `${secret}`],
  ['concatenation', () => `key: ${String(secret)}`],
  ['inspect', () => inspect(secret)],
  ['inspect to the bottom', () => inspect(around, { depth: 10, showHidden: true, compact: false })],
  ...['%s', '%o', '%O', '%j', '%d', '%i', '%c %s'].map((how): [string, () => string] => [
    `format ${how}`,
    () => format(how, secret, secret),
  ]),
  ['console', () => gather((into) => new Console(into).log('key', secret, around, [secret]))],
  ['console.dir', () => gather((into) => new Console(into).dir(around, { depth: 9 }))],
  ['pino', () => gather((into) => pino(into).info({ secret, around }, 'words %s %o', secret, secret))],
  ['an error', () => inspect(new Error(`wrong key ${secret}`, { cause: secret }))],
  ['a copy', () => JSON.stringify({ ...secret })],
  ['its properties', () => [...Object.entries(secret), ...Object.getOwnPropertyNames(secret)].join()],
  ['serialisation', () => serialize(around).toString('latin1')],
];

describe('a secret', () => {
  it.each(ways)('does not leak by %s', (_name, print) => {
    expect(print()).not.toContain(CANARY);
  });

  it.each(ways.slice(0, 5))('is shown as [secret] by %s', (_name, print) => {
    expect(print()).toContain('[secret]');
  });

  it('can only be read by `reveal`', () => {
    expect(secret.reveal()).toBe(CANARY);
  });
});

describe('an expected failure', () => {
  it('is distinguished from a defect', () => {
    expect(isExpected(new Refusal('no_api_key', {}))).toBe(true);
    expect(isExpected(new HostingError('limit', 'no'))).toBe(true);
    expect(isExpected(new Error('limit'))).toBe(false);
    expect(isExpected({ code: 'limit' })).toBe(false);
    expect(isExpected(undefined)).toBe(false);
  });

  it('is logged with its code and without what was typed', () => {
    expect(new Refusal('unknown_server', { typed: 'hunter2' }).message).toBe('refused: unknown_server');
    expect(new HostingError('unknown_code', 'maybe', { unknownCode: 'hunter2' }).message).toBe(
      'hosting API: unknown_code',
    );
  });
});
