import { beforeEach, describe, expect, it } from 'vitest';
import { cacheLookups, RateLimited } from '../../../src/slack/directory.ts';
import { type HandClock, handClock, turn } from '../support/fakes.ts';

const MINUTE = 60_000;

let clock: HandClock;
/** Every key that Slack was asked for, in order. */
let asked: string[];
/** What Slack answers. */
let answer: string | RateLimited | undefined;
let open: ((answer: string | undefined) => void)[];
let isSlow: boolean;
let find: (key: string, isFresh?: boolean) => Promise<string | undefined>;

beforeEach(() => {
  clock = handClock();
  asked = [];
  answer = 'first';
  open = [];
  isSlow = false;
  find = cacheLookups(
    async (key) => {
      asked.push(key);
      return isSlow ? new Promise((resolve) => open.push(resolve)) : answer;
    },
    clock.system,
    { freshMs: 4000 },
  );
});

describe('a cached lookup', () => {
  it('asks Slack once in five minutes, and again after that', async () => {
    expect(await find('a')).toBe('first');
    answer = 'second';
    await clock.pass(5 * MINUTE - 1);
    expect(await find('a')).toBe('first');
    await clock.pass(1);
    expect(await find('a')).toBe('second');
    expect(asked).toEqual(['a', 'a']);
  });

  it('asks again half a minute after a failure, not before', async () => {
    answer = undefined;
    expect(await find('a')).toBeUndefined();
    answer = 'now';
    await clock.pass(29_999);
    expect(await find('a')).toBeUndefined();
    await clock.pass(1);
    expect(await find('a')).toBe('now');
    expect(asked).toEqual(['a', 'a']);
  });

  it('shares one request among all callers that ask at the same time', async () => {
    isSlow = true;
    const waiting = Array.from({ length: 50 }, () => find('a'));
    open[0]?.('here');
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 50 }, () => 'here'));
    expect(asked).toEqual(['a']);
  });

  it('answers within two seconds, with or without Slack', async () => {
    isSlow = true;
    const waiting = find('a');
    let isOver = false;
    void waiting.then(() => {
      isOver = true;
    });
    await clock.pass(1999);
    expect(isOver).toBe(false);
    await clock.pass(1);
    expect(await waiting).toBeUndefined();
  });

  it('sends no second request while the first answer is late, and caches that answer', async () => {
    isSlow = true;
    const early = find('a');
    await clock.pass(2000);
    const later = find('a');
    await clock.pass(1000);
    open[0]?.('late');
    expect([await early, await later]).toEqual([undefined, 'late']);
    expect(await find('a')).toBe('late');
    expect(asked).toEqual(['a']);
  });

  it('counts the five minutes from the request, so that a revoked role never counts for longer', async () => {
    isSlow = true;
    const first = find('a');
    await clock.pass(1500);
    open[0]?.('slow');
    await first;
    isSlow = false;
    await clock.pass(5 * MINUTE - 1500);
    await find('a');
    expect(asked).toEqual(['a', 'a']);
  });

  it('leaves no timer behind', async () => {
    await find('a');
    await find('a');
    await turn();
    expect(clock.sleeping()).toBe(0);
  });

  it('drops the least recently used entry when there are more than 10,000', async () => {
    for (let number = 0; number <= 10_000; number++) await find(`k${number}`);
    asked.length = 0;
    await find('k10000');
    await find('k1');
    await find('k0');
    expect(asked).toEqual(['k0']);
  });

  it('rejects when the request itself has a defect, and asks again later', async () => {
    let times = 0;
    const broken = cacheLookups(async () => {
      times += 1;
      throw new Error('a defect');
    }, clock.system);
    await expect(broken('a')).rejects.toThrow('a defect');
    await clock.pass(30_000);
    await expect(broken('a')).rejects.toThrow('a defect');
    expect(times).toBe(2);
  });
});

describe('a cached lookup while Slack rate-limits the app', () => {
  it('uses the last good answer, and doesn’t ask Slack again before it may', async () => {
    expect(await find('a')).toBe('first');
    await clock.pass(5 * MINUTE);
    answer = new RateLimited(MINUTE);
    expect(await find('a')).toBe('first');
    answer = 'second';
    await clock.pass(MINUTE - 1);
    expect(await find('a')).toBe('first');
    expect(asked).toEqual(['a', 'a']);
    await clock.pass(1);
    expect(await find('a')).toBe('second');
  });

  it('returns nothing once the last good answer is 15 minutes old', async () => {
    await find('a');
    await clock.pass(5 * MINUTE);
    answer = new RateLimited(MINUTE);
    for (let minute = 5; minute < 15; minute++) {
      expect(await find('a')).toBe('first');
      await clock.pass(MINUTE);
    }
    expect(await find('a')).toBeUndefined();
  });

  it('returns nothing if Slack never answered', async () => {
    answer = new RateLimited(MINUTE);
    expect(await find('a')).toBeUndefined();
  });
});

describe('a fresh lookup', () => {
  const FRESH = true;

  it('asks Slack again although an answer is cached, but not within four seconds', async () => {
    await find('a');
    answer = 'second';
    await clock.pass(3999);
    expect(await find('a', FRESH)).toBe('first');
    await clock.pass(1);
    expect(await find('a', FRESH)).toBe('second');
    expect(asked).toEqual(['a', 'a']);
  });

  it('returns nothing if Slack fails, while a cached lookup keeps its answer', async () => {
    await find('a');
    await clock.pass(MINUTE);
    answer = undefined;
    expect([await find('a', FRESH), await find('a')]).toEqual([undefined, 'first']);
    await clock.pass(4 * MINUTE);
    expect(await find('a')).toBeUndefined();
  });

  it('returns nothing while Slack rate-limits the app, and does not ask again until that is over', async () => {
    await find('a');
    await clock.pass(MINUTE);
    answer = new RateLimited(MINUTE);
    expect([await find('a', FRESH), await find('a', FRESH), await find('a')]).toEqual([
      undefined,
      undefined,
      'first',
    ]);
    expect(asked).toEqual(['a', 'a']);
    await clock.pass(MINUTE);
    answer = 'second';
    expect(await find('a', FRESH)).toBe('second');
  });
});
