import { describe, expect, test } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { startRuledTeam } from '../../support/ruled-team.ts';
import { startTeam, type Team } from '../../support/team.ts';

/** The address of the form that takes the key, as the owner got it. */
async function askForLink(team: Team): Promise<string> {
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps connect');
  await owner.sees('Enter the API key');
  const link = owner.links().find((address) => address.includes('/connect/')) ?? '';
  return `${team.appUrl}${new URL(link).pathname}`;
}

test('a key that another page posts is not taken, also from browsers without sec-fetch-site', async () => {
  await using team = await startTeam({ isConnected: false });
  const link = await askForLink(team);
  const post = (headers: Record<string, string>) => {
    const body = new URLSearchParams({ api_key: team.apiKey });
    return fetch(link, { method: 'POST', body, headers });
  };
  const { host } = new URL(team.appUrl);
  for (const origin of [
    'https://evil.example',
    'null',
    `https://${host}.evil.example`,
    'http://127.0.0.1:1',
    '',
  ]) {
    expect((await post({ origin })).status).toBe(403);
  }
  expect(await team.app.ports.apiKeys.find(TEAM.id)).toBeUndefined();
  expect((await post({ origin: team.appUrl })).status).toBe(200);
});

describe('an API key that was set or removed', () => {
  const post = (link: string, apiKey: string) =>
    fetch(link, { method: 'POST', body: new URLSearchParams({ api_key: apiKey }) });

  test('is announced to the owners directly, without the key, but not to the one who removed it', async () => {
    await using team = await startTeam({ settings: { OWNERS: `${USERS.olga.id},${USERS.nora.id}` } });
    const owners = (['olga', 'nora'] as const).map((name) => team.slack.as(name).in('dm'));
    // Someone who got hold of the owner's link connects their own account.
    await post(await askForLink(team), team.hosting.createKey(team.account));
    for (const owner of owners) await owner.sees('@olga connected a new hosting API key');
    const olga = team.slack.as('olga').in('#ops');
    await olga.types('/vps disconnect');
    await olga.presses('Disconnect');
    await owners[1]?.sees('@olga disconnected the hosting account');
    owners[0]?.doesNotSee('@olga disconnected the hosting account');
    const said = owners.map((owner) => owner.screen()).join();
    expect(said).not.toContain(team.apiKey);
    const audit = await team.app.ports.audit.list({ workspaceId: TEAM.id, outcome: 'done', limit: 10 });
    expect(audit.map(({ action }) => action)).toEqual(['disconnect', 'connect', 'connect_link']);
  });

  test('is announced in the approvals channel where one is set', async () => {
    const settings = { ...DEFAULT_SETTINGS, channelId: 'C0OPS00001' };
    await using team = await startRuledTeam(settings);
    await post(await askForLink(team), team.apiKey);
    await team.slack.as('vera').in('#ops').sees('@olga connected a new hosting API key');
    expect(team.owner.screen()).not.toContain('hosting API key');
  });
});
