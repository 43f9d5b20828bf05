import { describe, expect, test } from 'vitest';
import { frozenClock } from '../../../src/sandbox/hosting/clock.ts';
import { startCaller } from './caller.ts';

async function statusesOf(call: () => Promise<{ status: number }>, count: number): Promise<number[]> {
  const statuses = [];
  for (let n = 0; n < count; n += 1) statuses.push((await call()).status);
  return statuses;
}

describe('the limit of requests in a minute', () => {
  test('accepts exactly 300, refuses the next, and accepts again a minute after the first', async () => {
    const { call, hosting } = await startCaller();
    const ask = () => call('GET', '/servers');
    const statuses = await Promise.all(Array.from({ length: 300 }, ask));
    expect(new Set(statuses.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(await ask()).toEqual({ status: 429, body: { code: 'rate_limited' } });
    hosting.clock.advance(59_999);
    expect((await ask()).status).toBe(429);
    hosting.clock.advance(1);
    expect((await ask()).status).toBe(200);
  });

  test('counts each account by itself', async () => {
    const { call, hosting } = await startCaller({ requestsPerMinute: 1 });
    const other = hosting.accounts.create({ name: 'Other', balanceMinor: 1 });
    const header = `Bearer ${hosting.createKey(other)}`;
    expect(await statusesOf(() => call('GET', '/servers'), 2)).toEqual([200, 429]);
    expect(await statusesOf(() => call('GET', '/servers', undefined, header), 2)).toEqual([200, 429]);
  });

  test('does no work for a refused request, and does not count it', async () => {
    const { call, create, hosting, account } = await startCaller({ requestsPerMinute: 2 });
    await call('GET', '/catalog');
    hosting.clock.advance(30_000);
    expect((await create()).status).toBe(200);
    expect(await statusesOf(create, 5)).toEqual([429, 429, 429, 429, 429]);
    hosting.clock.advance(30_000);
    expect(await statusesOf(create, 2)).toEqual([200, 429]);
    expect(hosting.charges(account)).toHaveLength(2);
  });

  test('counted by a sliding log, no 60 seconds hold more than the limit', async () => {
    const clock = frozenClock('2026-01-15T10:00:59.000Z');
    const { call, hosting } = await startCaller({ clock, requestsPerMinute: 3 });
    const ask = () => call('GET', '/catalog');
    expect(await statusesOf(ask, 4)).toEqual([200, 200, 200, 429]);
    hosting.clock.advance(1000);
    expect(await statusesOf(ask, 1)).toEqual([429]);
  });

  test('counted by fixed windows, a new minute of the clock starts from nothing', async () => {
    const clock = frozenClock('2026-01-15T10:00:59.000Z');
    const { call, hosting } = await startCaller({
      clock,
      requestsPerMinute: 3,
      rateCounting: 'fixed_window',
    });
    const ask = () => call('GET', '/catalog');
    expect(await statusesOf(ask, 4)).toEqual([200, 200, 200, 429]);
    hosting.clock.advance(1000);
    expect(await statusesOf(ask, 4)).toEqual([200, 200, 200, 429]);
    hosting.clock.advance(59_999);
    expect(await statusesOf(ask, 1)).toEqual([429]);
  });
});
