import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { connectByForm, orderServer, startWithPanel } from './panel/support.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const TOP_UP = JSON.stringify({ do: 'top_up', amountMinor: 100 });

describe('the panel', () => {
  it('refuses other sites, and bodies that are not JSON, too large or unknown actions', async () => {
    await using panel = await startWithPanel();
    const before = (await panel.state()).account.balance;
    const refused: readonly [number, Record<string, string>, string][] = [
      [403, { ...JSON_TYPE, origin: 'http://evil.example' }, TOP_UP],
      [403, { ...JSON_TYPE, origin: `http://127.0.0.1:${panel.port + 1}` }, TOP_UP],
      [403, { ...JSON_TYPE, 'sec-fetch-site': 'cross-site' }, TOP_UP],
      [403, { ...JSON_TYPE, 'sec-fetch-site': 'same-site' }, TOP_UP],
      [415, {}, TOP_UP],
      [415, { 'content-type': 'text/plain' }, TOP_UP],
      [400, JSON_TYPE, JSON.stringify({ do: 'add_fault', preset: '1'.repeat(70_000) })],
      [400, JSON_TYPE, '{"do":'],
      [400, JSON_TYPE, '{"do":"rob_the_bank"}'],
      [400, JSON_TYPE, '{"do":"top_up","amountMinor":"1"}'],
      [400, JSON_TYPE, '{"do":"revoke_key","key":"1"}'],
      [400, JSON_TYPE, '{"do":"create_key","for":"evil"}'],
    ];
    for (const [status, headers, body] of refused)
      expect(await panel.send('POST', '/panel/do', headers, body), body.slice(0, 40)).toMatchObject({
        status,
      });
    expect(await panel.send('GET', '/panel/do')).toMatchObject({ status: 404 });
    expect(await panel.send('GET', '/panel/state', { 'sec-fetch-site': 'cross-site' })).toMatchObject({
      status: 403,
    });
    expect((await panel.state()).account.balance).toBe(before);
    const own = { ...JSON_TYPE, origin: `http://127.0.0.1:${panel.port}`, 'sec-fetch-site': 'same-origin' };
    expect(await panel.send('POST', '/panel/do', own, TOP_UP)).toMatchObject({ status: 200 });
  });

  it('shows the account as it is', async () => {
    await using panel = await startWithPanel({ isConnected: true });
    const { hosting, account } = panel.team;
    await orderServer(panel, 'web-1');
    await panel.team.slack.as('mara').sees(/(was|is being) created \(/);
    const state = await panel.state();
    expect(state.account).toMatchObject({
      name: 'Team',
      balance: '994.10',
      keys: [{ hint: panel.team.apiKey.slice(-4), isUsedByApp: true }],
      connection: 'works',
      faults: [],
      movedMs: 0,
    });
    const [server] = hosting.listServers(account);
    expect(state.servers).toEqual([server]);
    expect(server).toMatchObject({ label: 'web-1', state: 'running' });
    expect(state.money).toMatchObject([
      { kind: 'top_up', amountMinor: 1000_00 },
      { kind: 'charge', amountMinor: 590, what: 'create web-1 (small)' },
    ]);
    expect(state.requests.find(({ operation }) => operation === 'create')).toMatchObject({
      method: 'POST',
      path: '/v1/servers',
      serverId: server?.id,
      ending: 'answered',
      status: 200,
      didWork: true,
      durationMs: expect.any(Number),
    });
    expect(state.tour.map(({ id }) => id)).toEqual(['connect', 'create', 'reboot', 'lose', 'delete']);
  });

  it('does what its user asks for, and refuses what makes no sense', async () => {
    await using panel = await startWithPanel({ balanceMinor: 0 });
    const { hosting, account } = panel.team;
    const done = { ok: true };
    expect(await panel.perform({ do: 'top_up', amountMinor: -1 })).toMatchObject({ error: 'invalid_action' });
    expect(await panel.perform({ do: 'top_up', amountMinor: 49_90 })).toEqual(done);
    expect(hosting.balanceOf(account)).toBe(49_90);
    expect(await panel.perform({ do: 'skip_time', step: 'day' })).toEqual(done);
    expect((await panel.state()).account.movedMs).toBe(86_400_000);
    expect(await panel.perform({ do: 'seed_servers' })).toEqual(done);
    expect(await panel.perform({ do: 'seed_servers' })).toEqual(done);
    const labels = hosting.listServers(account).map(({ label }) => label);
    expect(new Set(labels).size).toBe(40);
    const [first] = hosting.listServers(account);
    const gone = { do: 'delete_server', server: first?.id ?? 0 } as const;
    expect(await panel.perform(gone)).toEqual(done);
    expect(await panel.perform(gone)).toMatchObject({ ok: false, error: 'unknown' });
    expect((await panel.state()).servers).toHaveLength(39);
    expect(hosting.charges(account)).toEqual([]);
  });

  it('gives a new key once, and no key and no root password ever again', async () => {
    await using panel = await startWithPanel();
    const live = panel.listen();
    const done = await panel.perform({ do: 'create_key' });
    const key = (done.ok && done.key) || 'none';
    expect(key).toMatch(/^hk_/);
    expect(await connectByForm(panel, key)).toBe(200);
    await fetch(`${panel.team.hosting.baseUrl}/${key}`);
    await orderServer(panel, 'web-1');
    await panel.team.slack.as('mara').sees(/(was|is being) created \(/);
    await eventually(() => expect(JSON.stringify(live)).toContain('"label":"web-1"'));
    const [server] = (await panel.state()).servers;
    const password = panel.team.hosting.passwordOf(server?.id ?? 0) ?? 'none';
    const shown = JSON.stringify(live) + (await panel.send('GET', '/panel/state')).text;
    expect(shown).toContain('[masked]');
    expect(shown).not.toContain(key);
    expect(shown).not.toContain(panel.team.apiKey);
    expect(shown).not.toContain(JSON.stringify(password).slice(1, -1));
  });

  it('offers faults by what one will see, and takes each of them on and off', async () => {
    await using panel = await startWithPanel();
    const { presets } = await panel.state();
    for (const { id } of presets) {
      expect(await panel.perform({ do: 'add_fault', preset: id })).toEqual({ ok: true });
      expect(await panel.perform({ do: 'add_fault', preset: id })).toEqual({ ok: true });
    }
    const { faults } = (await panel.state()).account;
    expect(new Set(faults.map(({ preset }) => preset))).toEqual(new Set(presets.map(({ id }) => id)));
    expect(faults.filter(({ preset }) => preset === 'slow')).toMatchObject([{ left: null }]);
    expect(faults.filter(({ preset }) => preset === 'lose_answer')).toMatchObject([{ left: 1 }, { left: 1 }]);
    for (const { id } of faults) await panel.perform({ do: 'remove_fault', fault: id });
    expect(await panel.perform({ do: 'add_fault', preset: 'flood' })).toMatchObject({ error: 'unknown' });
  });

  it('tells every change of the state, by the passing of time alone, too', async () => {
    // Longer than the panel looks after an event; ordered past the app, whose requests are events, too.
    const exempt = { chargedOnce: 'ordered past the app', passwordsWithCreators: 'ordered past the app' };
    await using panel = await startWithPanel({ hosting: { createDelayMs: 1500 }, exempt });
    const { hosting, account, apiKey } = panel.team;
    const states = panel.listen();
    await connectByForm(panel, apiKey);
    await eventually(() => expect(states.at(-1)?.account.connection).toBe('works'));
    const order = { plan: 'small', location: 'ams', image: 'debian-13', label: 'web-1' };
    hosting.servers.create(account, order, { says: 'yes' });
    const sees = (...expected: string[]) =>
      eventually(() => expect(states.at(-1)?.servers.map(({ state }) => state)).toEqual(expected));
    await sees('creating');
    await sees('running');
    await panel.perform({ do: 'skip_time', step: 'month' });
    await panel.perform({ do: 'skip_time', step: 'hour' });
    await sees('expired');
    await panel.perform({ do: 'skip_time', step: 'month' });
    await sees();
  });
});
