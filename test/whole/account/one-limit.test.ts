import { expect, test } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { startTeam } from '../../support/team.ts';

const LIMIT = 300;
/** The machine may be busy. */
const LATER = { timeout: 60_000 };

test('a second key of the same account, connected again, never lets more requests through than the limit', async () => {
  await using team = await startTeam();
  const { hosting, account, app, apiKey } = team;
  const [id = 0] = hosting.seedServers(account, 1, 'web');
  const first = app.ports.hostingOf(new Secret(apiKey), TEAM.id);
  await Promise.all(Array.from({ length: LIMIT }, () => first.changePower('reboot', id)));
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps connect');
  await owner.sees('Enter the API key');
  const link = owner.links().find((address) => address.includes('/connect/')) ?? '';
  const second = hosting.createKey(account);
  const posted = fetch(`${team.appUrl}${new URL(link).pathname}`, {
    method: 'POST',
    body: new URLSearchParams({ api_key: second }),
    headers: { 'sec-fetch-site': 'same-origin' },
  });
  // Without a minute in common, the second key would be tried at once.
  const other = app.ports.hostingOf(new Secret(second), TEAM.id);
  await expect.poll(() => other.budget().waiting, LATER).toBe(1);
  expect(hosting.requests()).toHaveLength(LIMIT);
  const isAnswered = await Promise.race([posted.then(() => true), other.budget().waiting === 1 && false]);
  expect(isAnswered).toBe(false);
  posted.catch(() => undefined);
});
