import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeUlid, realSystem } from '../src/system.ts';

const times = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const bytes = fc.uint8Array({ minLength: 10, maxLength: 10 });

describe('an id', () => {
  it('has 26 characters that can be read out on the telephone', () => {
    fc.assert(
      fc.property(times, bytes, (now, random) => {
        expect(makeUlid(now, random)).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
      }),
    );
  });

  it('sorts by the time at which it was made, whatever is random in it', () => {
    fc.assert(
      fc.property(times, times, bytes, bytes, (a, b, randomA, randomB) => {
        if (a >= b) return;
        expect(makeUlid(a, randomA) < makeUlid(b, randomB)).toBe(true);
      }),
    );
  });

  it('tells two things of the same moment apart by every random bit', () => {
    fc.assert(
      fc.property(times, bytes, bytes, (now, a, b) => {
        const isSame = Buffer.from(a).equals(Buffer.from(b));
        expect(makeUlid(now, a) === makeUlid(now, b)).toBe(isSame);
      }),
    );
  });

  it('is the ULID that others would write', () => {
    expect(makeUlid(1_469_918_176_385, Buffer.alloc(10))).toBe('01ARYZ6S410000000000000000');
    expect(makeUlid(2 ** 48 - 1, Buffer.alloc(10, 255))).toBe('7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
  });

  it('is never given out twice', () => {
    const ids = Array.from({ length: 20_000 }, () => realSystem.newId());
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('a token', () => {
  it('stands in an address as it is, and holds as many bytes as were asked for', () => {
    for (const size of [1, 16, 32]) {
      const token = realSystem.newToken(size);
      expect(token).toMatch(/^[\w-]+$/);
      expect(Buffer.from(token, 'base64url')).toHaveLength(size);
    }
    expect(realSystem.newToken(32)).not.toBe(realSystem.newToken(32));
  });
});

describe('waiting', () => {
  it('ends at once, with an AbortError, when it is given up', async () => {
    const stop = new AbortController();
    const waiting = realSystem.sleep(60_000, stop.signal);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('is measured by a clock that never goes back', () => {
    const readings = Array.from({ length: 1000 }, () => realSystem.elapsed());
    expect(readings).toEqual([...readings].sort((a, b) => a - b));
    expect(realSystem.random()).toBeLessThan(1);
  });
});
