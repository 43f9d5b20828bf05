import { beforeEach, describe, expect, it } from 'vitest';
import { cacheLookups } from '../../../src/slack/directory/cached-lookups.ts';
import { type HandClock, handClock, turn } from '../support/hand-clock.ts';

const MINUTE = 60_000;

let clock: HandClock;
/** Every key that was asked for, in order. */
let asked: string[];
/** What is answered; a function answers later. */
let answer: string | undefined;
let open: ((answer: string | undefined) => void)[];
let isSlow: boolean;
let find: (key: string) => Promise<string | undefined>;

beforeEach(() => {
  clock = handClock();
  asked = [];
  answer = 'first';
  open = [];
  isSlow = false;
  find = cacheLookups(async (key) => {
    asked.push(key);
    return isSlow ? new Promise((resolve) => open.push(resolve)) : answer;
  }, clock.system);
});

describe('what Slack was asked', () => {
  it('is asked once in five minutes, and anew then', async () => {
    expect(await find('a')).toBe('first');
    answer = 'second';
    await clock.pass(5 * MINUTE - 1);
    expect(await find('a')).toBe('first');
    await clock.pass(1);
    expect(await find('a')).toBe('second');
    expect(asked).toEqual(['a', 'a']);
  });

  it('is asked again half a minute after a failure, not before', async () => {
    answer = undefined;
    expect(await find('a')).toBeUndefined();
    answer = 'now';
    await clock.pass(29_999);
    expect(await find('a')).toBeUndefined();
    await clock.pass(1);
    expect(await find('a')).toBe('now');
    expect(asked).toEqual(['a', 'a']);
  });

  it('is asked once for all who want it meanwhile', async () => {
    isSlow = true;
    const waiting = Array.from({ length: 50 }, () => find('a'));
    open[0]?.('here');
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 50 }, () => 'here'));
    expect(asked).toEqual(['a']);
  });

  it('makes nobody wait for more than two seconds', async () => {
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

  it('is not asked a second time while the first answer is late, which is kept when it comes', async () => {
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

  it('counts the five minutes from the question, so that a role taken away is never older', async () => {
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

  it('is forgotten, the oldest first, when there is too much of it', async () => {
    for (let number = 0; number <= 10_000; number++) await find(`k${number}`);
    asked.length = 0;
    await find('k10000');
    await find('k1');
    await find('k0');
    expect(asked).toEqual(['k0']);
  });

  it('fails for whoever asks when the asking itself has a defect, and is asked again later', async () => {
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
