import { describe, expect, test } from 'vitest';
import { defaultCatalog, largeCatalog } from '../../../src/sandbox/hosting/catalog.ts';
import { frozenClock, oneMonthLater } from '../../../src/sandbox/hosting/clock.ts';
import { type Answer, type Caller, field, idOf, startCaller } from './caller.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

async function startWithServer(): Promise<Caller & { id: number; act(verb: string): Promise<Answer> }> {
  const caller = await startCaller({ createDelayMs: 4000, rebootDelayMs: 3000 });
  const id = idOf(await caller.create());
  return { ...caller, id, act: (verb) => caller.call('POST', `/servers/${id}/${verb}`) };
}

const stateOf = ({ hosting, account }: Caller) => hosting.listServers(account)[0]?.state;

describe('the catalog', () => {
  test('shows plans with decimal prices, locations and images', async () => {
    const { call } = await startCaller();
    const { body } = await call('GET', '/catalog');
    expect(body).toEqual(defaultCatalog());
    for (const plan of defaultCatalog().plans) expect(plan.monthly).toMatch(/^\d+\.\d{2}$/);
  });

  test('can be larger than any menu, every code once', async () => {
    const { call } = await startCaller({ catalog: largeCatalog() });
    const { plans, locations, images } = largeCatalog();
    expect((await call('GET', '/catalog')).body).toEqual(largeCatalog());
    expect([new Set(plans.map((plan) => plan.code)).size, locations.length, images.length]).toEqual([
      150, 12, 300,
    ]);
  });

  test('moves a price while it runs', async () => {
    const { call, create, hosting, account } = await startCaller();
    hosting.setPrice('small', '9.99');
    expect(JSON.stringify((await call('GET', '/catalog')).body)).toContain('"9.99"');
    await create();
    expect(hosting.charges(account)).toMatchObject([{ amountMinor: 999 }]);
    expect(() => hosting.setPrice('small', '9.9')).toThrow(RangeError);
    expect(() => hosting.setPrice('none', '9.90')).toThrow(RangeError);
  });
});

describe('a server', () => {
  test('is created with a password that no later answer repeats', async () => {
    const { create, call, hosting } = await startCaller();
    const answer = await create();
    expect(answer).toEqual({
      status: 200,
      body: { id: expect.any(Number), state: 'creating', root_password: expect.any(String) },
    });
    const password = String(field(answer, 'root_password'));
    expect(password).toMatch(/^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[^A-Za-z\d]).{24}$/);
    expect(hosting.passwordOf(idOf(answer))).toBe(password);
    const list = await call('GET', '/servers');
    expect(list.body).toEqual([
      {
        id: idOf(answer),
        label: 'web-1',
        state: 'creating',
        ipv4: expect.stringMatching(/^198\.18\.\d+\.\d+$/),
        paid_until: '2026-02-15T10:00:00.000Z',
      },
    ]);
  });

  test('runs when the creation time has passed on its own clock', async () => {
    const caller = await startWithServer();
    caller.hosting.clock.advance(3999);
    expect(stateOf(caller)).toBe('creating');
    caller.hosting.clock.advance(1);
    expect(stateOf(caller)).toBe('running');
  });

  test('takes no power action while it is being created', async () => {
    const { act } = await startWithServer();
    for (const verb of ['start', 'stop', 'reboot'])
      expect(await act(verb)).toEqual({ status: 409, body: { code: 'wrong_state' } });
  });

  test('stops, starts and reboots, each only where it fits', async () => {
    const caller = await startWithServer();
    const { act, id, hosting } = caller;
    hosting.clock.advance(4000);
    expect((await act('start')).body).toEqual({ code: 'wrong_state' });
    expect((await act('stop')).body).toEqual({ id, state: 'stopped' });
    expect((await act('stop')).body).toEqual({ code: 'wrong_state' });
    expect((await act('reboot')).body).toEqual({ code: 'wrong_state' });
    expect((await act('start')).body).toEqual({ id, state: 'running' });
    expect((await act('reboot')).body).toEqual({ id, state: 'rebooting' });
    expect((await act('stop')).body).toEqual({ code: 'wrong_state' });
    hosting.clock.advance(3000);
    expect(stateOf(caller)).toBe('running');
    expect((await act('stop')).body).toEqual({ id, state: 'stopped' });
  });

  test('is gone once deleted, and nothing is refunded', async () => {
    const { call, hosting, account, id, act } = await startWithServer();
    const balanceMinor = hosting.balanceOf(account);
    expect((await call('DELETE', `/servers/${id}`)).body).toEqual({ id, state: 'deleted' });
    expect((await call('GET', '/servers')).body).toEqual([]);
    expect((await call('DELETE', `/servers/${id}`)).body).toEqual({ code: 'not_found' });
    expect((await act('renew')).body).toEqual({ code: 'not_found' });
    expect(hosting.balanceOf(account)).toBe(balanceMinor);
  });

  test("renews by one calendar month at today's price", async () => {
    const { act, id, hosting, account } = await startWithServer();
    hosting.setPrice('small', '7.00');
    expect((await act('renew')).body).toEqual({ id, paid_until: '2026-03-15T10:00:00.000Z' });
    expect((await act('renew')).body).toEqual({ id, paid_until: '2026-04-15T10:00:00.000Z' });
    expect(hosting.charges(account).map((entry) => entry.amountMinor)).toEqual([590, 700, 700]);
  });

  test('keeps its month when the balance does not cover another', async () => {
    const { act, hosting, account } = await startWithServer();
    hosting.setPrice('small', '99.00');
    const before = hosting.listServers(account);
    expect((await act('renew')).body).toEqual({ code: 'not_enough_balance' });
    expect(hosting.listServers(account)).toEqual(before);
    expect(hosting.charges(account)).toHaveLength(1);
  });

  test('expires when its month is over, can still be renewed, and is removed a week later', async () => {
    const caller = await startWithServer();
    const { act, hosting, account, id } = caller;
    hosting.clock.advanceMonth();
    expect(stateOf(caller)).toBe('expired');
    expect((await act('stop')).body).toEqual({ code: 'wrong_state' });
    expect((await act('renew')).status).toBe(200);
    expect(stateOf(caller)).toBe('running');
    hosting.clock.advanceMonth();
    hosting.clock.advance(7 * DAY_MS - 1);
    expect(hosting.listServers(account)).toMatchObject([{ id, state: 'expired' }]);
    hosting.clock.advance(1);
    expect(hosting.listServers(account)).toEqual([]);
    expect((await act('renew')).body).toEqual({ code: 'not_found' });
  });
});

describe('many servers', () => {
  test('lists three thousand in well under a second, each with its own id and address', async () => {
    const { call, hosting, account } = await startCaller();
    hosting.seedServers(account, 3000);
    const startedMs = performance.now();
    const { body } = await call('GET', '/servers');
    expect(performance.now() - startedMs).toBeLessThan(1000);
    const servers = hosting.listServers(account);
    expect(body).toEqual(servers);
    expect(new Set(servers.map((server) => server.id)).size).toBe(3000);
    expect(new Set(servers.map((server) => server.ipv4)).size).toBe(3000);
    expect(servers[2999]).toMatchObject({ label: 'seed-3000', state: 'running' });
    expect(hosting.charges(account)).toEqual([]);
  });
});

describe('the calendar', () => {
  test.each([
    ['2026-01-31T12:00:00.000Z', '2026-02-28T12:00:00.000Z'],
    ['2028-01-31T12:00:00.000Z', '2028-02-29T12:00:00.000Z'],
    ['2026-12-31T23:59:59.000Z', '2027-01-31T23:59:59.000Z'],
    ['2026-02-28T00:00:00.000Z', '2026-03-28T00:00:00.000Z'],
  ])('a month after %s is %s', (from, to) => {
    expect(new Date(oneMonthLater(Date.parse(from))).toISOString()).toBe(to);
  });

  test('never runs backwards', () => {
    expect(() => frozenClock().advance(-1)).toThrow(RangeError);
  });
});
