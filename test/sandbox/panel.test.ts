import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Panel, withPanel } from '../../src/sandbox/panel/panel.ts';
import type { PanelAction, PanelResult, PanelState } from '../../src/sandbox/panel/panel-api.ts';
import { askForLink, createServer as orderServer, passwordOf } from '../support/acts.ts';
import { eventually } from '../support/eventually.ts';
import { startTeam, type TeamOptions } from '../support/team.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const TOP_UP = JSON.stringify({ do: 'top_up', amountMinor: 100 });

/** A team with the panel beside it, and a browser's view of the panel. */
type Beside = Awaited<ReturnType<typeof startWithPanel>>;

/** Starts a team without an API key in the app, unless told otherwise, and the panel beside it. */
async function startWithPanel(options: TeamOptions = {}) {
  const team = await startTeam({ isConnected: false, ...options });
  const { hosting, account, slack } = team;
  const live: PanelState[] = [];
  let told = Promise.resolve();
  const onChange = () => {
    told = told.then(async () => void live.push(await panel.state()));
  };
  const panel = new Panel({ hosting, account, slack, store: team.app.ports, onChange });
  await panel.check();
  const server = createServer(
    withPanel(
      (_incoming, outgoing) => outgoing.writeHead(404).end('the page'),
      () => panel,
    ),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const send = async (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body: string | null = null,
  ) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body });
    return { status: answer.status, text: await answer.text() };
  };
  return {
    team,
    port,
    send,
    /** The state after each change. */
    live,
    state: async () => JSON.parse((await send('GET', '/panel/state')).text) as PanelState,
    perform: async (action: PanelAction) =>
      JSON.parse((await send('POST', '/panel/do', JSON_TYPE, JSON.stringify(action))).text) as PanelResult,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await panel.close();
      await told;
      await team[Symbol.asyncDispose]();
    },
  };
}

/** Connects the app as an owner would: by the form behind the link of `/vps connect`. */
async function connectByForm({ team }: Beside, key: string): Promise<number> {
  const body = new URLSearchParams({ api_key: key });
  return (await fetch(await askForLink(team), { method: 'POST', body })).status;
}

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
    const { live } = panel;
    const done = await panel.perform({ do: 'create_key' });
    const key = (done.ok && done.key) || 'none';
    expect(key).toMatch(/^hk_/);
    expect(await connectByForm(panel, key)).toBe(200);
    await fetch(`${panel.team.hosting.baseUrl}/${key}`);
    await orderServer(panel.team.manager);
    await eventually(() => expect(JSON.stringify(live)).toContain('"label":"web-1"'));
    const shown = JSON.stringify(live) + (await panel.send('GET', '/panel/state')).text;
    expect(shown).toContain('[masked]');
    expect(shown).not.toContain(key);
    expect(shown).not.toContain(panel.team.apiKey);
    expect(shown).not.toContain(JSON.stringify(passwordOf(panel.team)).slice(1, -1));
  });
});
