import { expect, it } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { startTeam } from '../../support/team.ts';

it('users see their place in the queue and an estimate once the limit of requests is used up', async () => {
  await using team = await startTeam();
  const [id = 0] = team.hosting.seedServers(team.account, 1, 'web');
  const hosting = team.app.ports.hostingOf(new Secret(team.apiKey), TEAM.id);
  await Promise.all(Array.from({ length: 300 }, () => hosting.changePower('reboot', id)));
  const viewer = team.slack.as('vera').in('#ops');
  const operator = team.slack.as('otto').in('#ops');
  await viewer.types('/vps list');
  await operator.types('/vps show web-1');
  const words = 'will run automatically. Estimated wait: about';
  await viewer.sees(new RegExp(`Your request is next in the queue and ${words} [1-6]?[05] s`));
  await operator.sees(new RegExp(`Your request is number 2 in the queue and ${words} [1-6]?[05] s`));
  expect(team.slack.brokenRules()).toEqual([]);
});
