import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIds, realSystem } from '../src/system.ts';

const times = fc.integer({ min: 1, max: 2 ** 48 - 1 });
const seeds = fc.integer();

/** Numbers between 0 and 1 that are the same for the same seed. */
function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const idAt = (now: number, seed: number) => createIds(() => now, numbersFrom(seed))();

describe('an ID', () => {
  it('has 26 characters that can be read out over the phone', () => {
    fc.assert(
      fc.property(times, seeds, (now, seed) => {
        expect(idAt(now, seed)).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
      }),
    );
  });

  it('sorts by the time at which it was made, whatever its random part', () => {
    fc.assert(
      fc.property(times, times, seeds, seeds, (a, b, seedA, seedB) => {
        if (a >= b) return;
        expect(idAt(a, seedA) < idAt(b, seedB)).toBe(true);
      }),
    );
  });

  it('is greater than every earlier one, even within one millisecond or when the clock is set back', () => {
    fc.assert(
      fc.property(fc.array(times, { minLength: 2, maxLength: 50 }), seeds, (clock, seed) => {
        let tick = 0;
        const newId = createIds(() => clock[tick++] ?? 1, numbersFrom(seed));
        const ids = clock.map(() => newId());
        expect(ids).toEqual([...ids].sort());
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  it('takes its 80 random bits from the given random numbers', () => {
    expect(idAt(1_469_918_176_385, 1)).toBe(idAt(1_469_918_176_385, 1));
    expect(idAt(1_469_918_176_385, 1)).not.toBe(idAt(1_469_918_176_385, 2));
    const byNumber = (number: number) =>
      createIds(
        () => 1_469_918_176_385,
        () => number,
      )();
    expect(byNumber(0)).toBe('01ARYZ6S410000000000000000');
    expect(byNumber(1 - 2 ** -32)).toBe('01ARYZ6S41ZZZZZZZZZZZZZZZZ');
  });

  it('is never made twice', () => {
    const ids = Array.from({ length: 20_000 }, () => realSystem.newId());
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual([...ids].sort());
  });
});

describe('a token', () => {
  it('fits into a URL unescaped, and encodes as many bytes as requested', () => {
    for (const size of [1, 16, 32]) {
      const token = realSystem.newToken(size);
      expect(token).toMatch(/^[\w-]+$/);
      expect(Buffer.from(token, 'base64url')).toHaveLength(size);
    }
    expect(realSystem.newToken(32)).not.toBe(realSystem.newToken(32));
  });
});

describe('a sleep', () => {
  it('ends at once, with an AbortError, when it is aborted', async () => {
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
