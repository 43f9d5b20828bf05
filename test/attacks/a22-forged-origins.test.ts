import { expect, test } from 'vitest';
import { TEAM } from '../../src/sandbox/slack/workspace.ts';
import { startTeam } from '../support/team.ts';
import { countTries } from './support/tries.ts';

const count = countTries('A22');

test('a key that another page posts is not taken, also from browsers without sec-fetch-site', async () => {
  await using team = await startTeam({ isConnected: false });
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps connect');
  await owner.sees('Enter the API key');
  const link = owner.links().find((address) => address.includes('/connect/')) ?? '';
  const post = (headers: Record<string, string>) => {
    const body = new URLSearchParams({ api_key: team.apiKey });
    return fetch(`${team.appUrl}${new URL(link).pathname}`, { method: 'POST', body, headers });
  };
  const { host } = new URL(team.appUrl);
  for (const origin of [
    'https://evil.example',
    'null',
    `https://${host}.evil.example`,
    'http://127.0.0.1:1',
    '',
  ]) {
    count();
    expect((await post({ origin })).status).toBe(403);
  }
  expect(await team.app.ports.apiKeys.find(TEAM.id)).toBeUndefined();
  expect((await post({ origin: team.appUrl })).status).toBe(200);
});
