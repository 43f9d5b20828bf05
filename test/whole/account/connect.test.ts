import { request } from 'node:http';
import { describe, expect, it, test } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';
import { MINUTE_MS } from '../../../src/core/time.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { askForLink } from '../../support/acts.ts';
import { movableSystem } from '../../support/clocks.ts';
import { until } from '../../support/eventually.ts';
import { rawUser } from '../../support/raw-user.ts';
import { startRuledTeam } from '../../support/ruled-team.ts';
import { grantRole, startTeam, type Team, type TeamOptions } from '../../support/team.ts';

const startUnconnected = (options: TeamOptions = {}) => startTeam({ isConnected: false, ...options });

function post(link: string, key: string): Promise<Response> {
  return fetch(link, { method: 'POST', body: new URLSearchParams({ api_key: key }) });
}

async function keyOf(team: Team): Promise<string | undefined> {
  return (await team.app.ports.apiKeys.find(TEAM.id))?.key.reveal();
}

describe.concurrent('/vps connect', () => {
  it('connects an account: only the owner sees the link, opening it does not use it up, and it works once', async () => {
    await using team = await startUnconnected();
    const link = await askForLink(team);
    expect(team.manager.screen()).not.toContain('Enter the API key');
    const token = link.split('/').at(-1) ?? '';
    expect(token).toMatch(/^[\w-]{43}$/);
    for (const method of ['GET', 'HEAD', 'GET']) expect((await fetch(link, { method })).status).toBe(200);
    const connected = await post(link, team.apiKey);
    expect(connected.status).toBe(200);
    expect(await connected.text()).toContain('Your key works and is stored encrypted');
    expect(await keyOf(team)).toBe(team.apiKey);
    for (const again of [await fetch(link), await post(link, team.apiKey)]) {
      expect(again.status).toBe(410);
      expect(await again.text()).toContain('This link was already used, has expired or is incomplete');
    }
    await team.owner.sees(
      'Your hosting account is connected. It has no servers yet. Create one with /vps create.',
    );
    await team.viewer.sees('@olga connected the hosting account');
    await team.owner.types('/vps list');
    await team.owner.sees('There are no servers');
    const entries = await rawUser(team, 'olga').audit();
    expect(entries.map(({ action, outcome }) => `${action} ${outcome}`)).toContain('connect done');
  });

  it('works for ten minutes', async () => {
    const system = movableSystem();
    await using team = await startUnconnected({ system });
    const link = await askForLink(team);
    system.move(10 * MINUTE_MS - 2000);
    expect((await fetch(link)).status).toBe(200);
    system.move(2001);
    for (const late of [await fetch(link), await post(link, team.apiKey)]) {
      expect(late.status).toBe(410);
      expect(await late.text()).toContain('has expired');
    }
    expect(await keyOf(team)).toBeUndefined();
  });

  it('refuses a key that is too long with an explanation, never cuts it, not even in the browser, and takes one that was pasted with spaces around it', async () => {
    await using team = await startUnconnected();
    const link = await askForLink(team);
    expect(await (await fetch(link)).text()).not.toContain('maxlength');
    const long = await post(link, team.apiKey.padEnd(513, '-'));
    expect(long.status).toBe(422);
    expect(await long.text()).toContain('too long for an API key: it can have 512 characters at most');
    expect(await keyOf(team)).toBeUndefined();
    expect(team.hosting.requests()).toEqual([]);
    expect((await post(link, ` \t\r\n${team.apiKey}\n `)).status).toBe(200);
    expect(await keyOf(team)).toBe(team.apiKey);
  });

  it('explains what is wrong with a key, and takes the right one afterwards', async () => {
    await using team = await startUnconnected();
    const link = await askForLink(team);
    for (const wrong of ['', 'two words', 'ключ']) {
      const answer = await post(link, wrong);
      expect(answer.status).toBe(422);
      expect(await answer.text()).toContain('doesn’t look like an API key');
    }
    const wrong = await post(link, 'wrong-key');
    expect(wrong.status).toBe(422);
    expect(await wrong.text()).toContain('rejected this key');
    expect((await post(link, team.apiKey)).status).toBe(200);
    expect(await keyOf(team)).toBe(team.apiKey);
  });

  it('says that an account has to be topped up first, or that the hosting API can’t be reached, and takes the key afterwards', async () => {
    await using team = await startUnconnected({ balanceMinor: 0 });
    const link = await askForLink(team);
    const early = await post(link, team.apiKey);
    expect(early.status).toBe(422);
    expect(await early.text()).toContain('first top-up');
    team.hosting.accounts.topUp(team.account, 1000);
    team.hosting.faults.add({ on: 'servers', kind: 'lost_before', times: 'always' });
    const unreached = await post(link, team.apiKey);
    expect(unreached.status).toBe(422);
    expect(await unreached.text()).toMatch(/didn’t answer|couldn’t be reached/);
    expect(await keyOf(team)).toBeUndefined();
    team.hosting.faults.clear();
    // A mistyped `HOSTING_BASE_URL` answers like this.
    team.hosting.faults.add({ on: 'servers', kind: 'error', code: 'not_found' });
    expect(await (await post(link, team.apiKey)).text()).toContain('The hosting API rejected the request.');
    expect((await post(link, team.apiKey)).status).toBe(200);
  });

  it('refuses a user who is no longer an owner when the form is posted', async () => {
    await using team = await startUnconnected({ settings: { OWNERS: USERS.nora.id } });
    await grantRole(team, USERS.mara.id, 'owner');
    await team.manager.types('/vps connect');
    await team.manager.sees('Enter the API key');
    const link = `${team.appUrl}${new URL(team.manager.links().at(0) ?? '').pathname}`;
    const nora = team.slack.as('nora');
    await nora.types('/vps access revoke @mara');
    await nora.sees('role was revoked');
    const answer = await post(link, team.apiKey);
    expect(answer.status).toBe(422);
    const page = await answer.text();
    expect(page).toContain('You need the <b>owner</b> role');
    expect(page).toContain(`Slack user ${USERS.nora.id}`);
    expect(page).not.toContain('/vps access ask');
    expect(await keyOf(team)).toBeUndefined();
    expect((await rawUser(team, 'mara').audit())[0]).toMatchObject({
      action: 'connect',
      outcome: 'denied',
      surface: 'page',
    });
    expect(team.hosting.requests()).toEqual([]);
  });

  it('stores one key when two are posted at once', async () => {
    await using team = await startUnconnected();
    const other = team.hosting.createKey(team.account, { beforeTopUp: true });
    const link = await askForLink(team);
    team.hosting.faults.add({ on: 'servers', kind: 'slow', delayMs: 50, times: 'always' });
    const answers = await Promise.all([post(link, team.apiKey), post(link, other), post(link, team.apiKey)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410, 410]);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect(await keyOf(team)).toBe(winner === 1 ? other : team.apiKey);
  });

  it('warns a user who types a key into the chat that it is exposed, and says so when the app has no public address for the form', async () => {
    await using team = await startUnconnected({ settings: { PUBLIC_URL: '' } });
    await team.owner.types('/vps connect sk-live-1234567890abcdef');
    await team.owner.sees('Never paste an API key into Slack');
    await team.owner.sees('revoke it');
    expect(team.owner.screen()).not.toContain('sk-live');
    const entries = await team.app.ports.audit.list({ workspaceId: TEAM.id, limit: 100 });
    expect(JSON.stringify(entries)).not.toContain('sk-live');
    await team.owner.types('/vps connect');
    await team.owner.sees('vps-slack key set --workspace T0SANDBOX');
  });
});

describe.concurrent('the page for the API key', () => {
  it('loads nothing from other sites, and sends nothing to them', async () => {
    await using team = await startUnconnected();
    const link = await askForLink(team);
    for (const answer of [await fetch(link), await post(link, 'wrong'), await fetch(`${link}x`)]) {
      const header = (name: string) => answer.headers.get(name);
      expect(header('cache-control')).toBe('no-store');
      expect(header('referrer-policy')).toBe('no-referrer');
      expect(header('x-content-type-options')).toBe('nosniff');
      expect(header('x-frame-options')).toBe('DENY');
      expect(header('content-type')).toBe('text/html; charset=utf-8');
      const policy = header('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("form-action 'self'");
      expect(policy).not.toMatch(/unsafe|\*/);
      expect(header('set-cookie')).toBeNull();
      expect(await answer.text()).not.toMatch(/<script|https?:\/\/|onload|wrong-key/);
    }
  });

  it('refuses unsupported methods, malformed and unfinished bodies and unknown links, and still takes a key afterwards', async () => {
    await using team = await startUnconnected();
    const link = await askForLink(team);
    expect((await fetch(link, { method: 'PUT' })).status).toBe(405);
    const json = { method: 'POST', body: '{"api_key":"x"}', headers: { 'content-type': 'application/json' } };
    expect((await fetch(link, json)).status).toBe(422);
    expect((await post(link, 'k'.repeat(3000 * 1024))).status).toBe(422);
    expect((await fetch(`${team.appUrl}/connect/__proto__`)).status).toBe(410);
    for (const path of ['', '%2e%2e', 'a'.repeat(101), 'a/b', '%00'])
      expect((await fetch(`${team.appUrl}/connect/${path}`)).status).toBe(404);
    const unfinished = request(link, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '1000' },
    });
    unfinished.on('error', () => undefined);
    unfinished.write('api_key=half');
    await new Promise((resolve) => setTimeout(resolve, 30));
    unfinished.destroy();
    expect((await post(link, team.apiKey)).status).toBe(200);
  });
});

it.concurrent('the API key is removed when an owner disconnects, after a confirmation', async () => {
  await using team = await startTeam();
  await team.owner.types('/vps disconnect');
  await team.owner.presses('Disconnect', { confirm: false });
  expect(await keyOf(team)).toBe(team.apiKey);
  await team.owner.presses('Disconnect');
  await team.owner.sees('The hosting account is disconnected');
  expect(await keyOf(team)).toBeUndefined();
  await team.owner.types('/vps list');
  await team.owner.sees('No hosting account is connected');
  await until(async () => (await fetch(`${team.appUrl}/livez`)).ok);
});

test.concurrent('a key that another site posts is not taken, also from browsers without sec-fetch-site', async () => {
  await using team = await startUnconnected();
  const link = await askForLink(team);
  const send = async (headers: Record<string, string>) =>
    (await fetch(link, { method: 'POST', body: new URLSearchParams({ api_key: team.apiKey }), headers }))
      .status;
  const { host } = new URL(team.appUrl);
  for (const site of ['cross-site', 'same-site']) expect(await send({ 'sec-fetch-site': site })).toBe(403);
  for (const origin of ['https://evil.example', 'null', `https://${host}.evil.example`])
    expect(await send({ origin })).toBe(403);
  expect(await keyOf(team)).toBeUndefined();
  expect(await send({ origin: team.appUrl })).toBe(200);
  const body = new URLSearchParams({ api_key: team.apiKey });
  const headers = { 'sec-fetch-site': 'none' };
  expect((await fetch(await askForLink(team), { method: 'POST', body, headers })).status).toBe(200);
});

describe.concurrent('an API key that was set or removed', () => {
  test('is announced to the owners directly, without the key, but not to the one who removed it', async () => {
    await using team = await startTeam({ settings: { OWNERS: `${USERS.olga.id},${USERS.nora.id}` } });
    const owners = (['olga', 'nora'] as const).map((name) => team.slack.as(name).in('dm'));
    // Someone who got hold of the owner's link connects their own account.
    await post(await askForLink(team), team.hosting.createKey(team.account));
    for (const owner of owners) await owner.sees('@olga connected a new hosting API key');
    const olga = team.slack.as('olga');
    await olga.types('/vps disconnect');
    await olga.presses('Disconnect');
    await owners[1]?.sees('@olga disconnected the hosting account');
    owners[0]?.doesNotSee('@olga disconnected the hosting account');
    const said = owners.map((owner) => owner.screen()).join();
    expect(said).not.toContain(team.apiKey);
    const audit = await team.app.ports.audit.list({ workspaceId: TEAM.id, limit: 10 });
    const done = audit.filter(({ outcome }) => outcome === 'done');
    expect(done.map(({ action }) => action)).toEqual(['disconnect', 'connect', 'connect_link']);
  });

  test('is announced in the approvals channel where one is set', async () => {
    const settings = { ...DEFAULT_SETTINGS, channelId: 'C0OPS00001' };
    await using team = await startRuledTeam(settings);
    await post(await askForLink(team), team.apiKey);
    await team.viewer.sees('@olga connected a new hosting API key');
    expect(team.approver.screen()).not.toContain('hosting API key');
  });
});
