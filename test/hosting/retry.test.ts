import { describe, expect, it, vi } from 'vitest';
import { HostingError, Refusal } from '../../src/core/errors.ts';
import { retry } from '../../src/hosting/chain.ts';
import { RateLimitedError } from '../../src/hosting/refusals.ts';
import type { System } from '../../src/system.ts';
import { jumpingSystem } from './support.ts';

const limited = (retryAfter?: string) => new RateLimitedError({}, retryAfter);
const notSent = new HostingError('not_sent', 'no');

/** Fails with these, one after the other, and then answers. */
function failing(...failures: Error[]) {
  const left = [...failures];
  return vi.fn(async () => {
    const failure = left.shift();
    if (failure) throw failure;
    return 'done';
  });
}

function always(failure: Error) {
  return vi.fn(async (): Promise<string> => {
    throw failure;
  });
}

function run(send: () => Promise<string>, system: System, closing = new AbortController().signal) {
  const pause = vi.fn();
  const onWait = vi.fn();
  const outcome = retry(send, onWait, { system, pause, closing }).catch((error: unknown) => error);
  return { outcome, pause, onWait };
}

describe('a failed call', () => {
  it.each([
    new HostingError('no_answer', 'maybe'),
    new HostingError('no_answer', 'no'),
    new HostingError('checking', 'maybe'),
    new HostingError('not_created', 'no'),
    new HostingError('unreadable_answer', 'maybe'),
    new HostingError('unknown_code', 'maybe'),
    new HostingError('not_enough_balance', 'no'),
    new HostingError('wrong_state', 'no'),
    new HostingError('rate_limited', 'maybe'),
    new Refusal('waited_too_long', {}),
    new Error('defect'),
  ])('is not tried again after %s (%#)', async (failure) => {
    const send = always(failure);
    const system = jumpingSystem();
    expect(await run(send, system).outcome).toBe(failure);
    expect(send).toHaveBeenCalledOnce();
    expect(system.slept).toEqual([]);
  });

  it('is tried again after not_sent and rate_limited, which prove that nothing was done', async () => {
    const send = failing(notSent, limited(), notSent);
    expect(await run(send, jumpingSystem()).outcome).toBe('done');
    expect(send).toHaveBeenCalledTimes(4);
  });
});

describe('a call that was not sent', () => {
  it('is tried four times within five seconds', async () => {
    for (const random of [0, 0.5, 0.999]) {
      const system = jumpingSystem(random);
      const send = always(notSent);
      expect(await run(send, system).outcome).toBe(notSent);
      expect(send).toHaveBeenCalledTimes(4);
      expect(system.elapsed()).toBeLessThanOrEqual(5_001);
    }
  });

  it('does not hold back other calls of the account', async () => {
    const { outcome, pause } = run(failing(notSent), jumpingSystem());
    await outcome;
    expect(pause).not.toHaveBeenCalled();
  });
});

describe('a call that was rate limited', () => {
  it('is given up after at least 60 s and at most 75 s', async () => {
    for (const random of [0, 0.5, 0.999]) {
      const system = jumpingSystem(random);
      const send = always(limited());
      expect(await run(send, system).outcome).toMatchObject({ code: 'rate_limited' });
      expect(send).toHaveBeenCalledTimes(6);
      expect(system.elapsed()).toBeGreaterThanOrEqual(60_000);
      expect(system.elapsed()).toBeLessThanOrEqual(75_000);
    }
  });

  it('waits longer before each try, with random jitter', async () => {
    const system = jumpingSystem(0.5);
    await run(failing(limited(), limited(), limited(), limited()), system).outcome;
    expect(system.slept).toEqual([1_000, 2_000, 4_000, 8_000]);
  });

  it('holds back the whole account while it waits, and notifies the user if that takes long', async () => {
    const { outcome, pause, onWait } = run(failing(limited(), limited('30')), jumpingSystem(0));
    await outcome;
    expect(pause.mock.calls).toEqual([[0], [30_000]]);
    expect(onWait).toHaveBeenCalledOnce();
  });

  it.each([
    ['7', 7_000],
    ['0', 0],
    ['3600', 60_000],
    [new Date(1_700_000_020_000).toUTCString(), 20_000],
    [new Date(1_600_000_000_000).toUTCString(), 0],
    ['soon', 1_000],
  ])('retries when the service says: Retry-After %s is %d ms', async (written, ms) => {
    const system = jumpingSystem(written === 'soon' ? 0.5 : 0);
    await run(failing(limited(written)), system).outcome;
    expect(system.slept.reduce((sum, slept) => sum + slept, 0)).toBe(ms);
  });

  it('is given up when the service asks for more than 75 s in all', async () => {
    const system = jumpingSystem(0);
    expect(await run(always(limited('60')), system).outcome).toMatchObject({ code: 'rate_limited' });
    expect(system.slept).toEqual([60_000]);
  });
});

it('stops waiting with a refusal when the process shuts down', async () => {
  const closing = new AbortController();
  const send = vi.fn(async () => {
    closing.abort();
    throw notSent;
  });
  const { outcome } = run(send, jumpingSystem(), closing.signal);
  expect(await outcome).toEqual(new Refusal('shutting_down', {}));
  expect(send).toHaveBeenCalledOnce();
});
