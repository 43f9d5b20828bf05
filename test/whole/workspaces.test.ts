import { expect, it } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { USERS } from '../../src/sandbox/slack/workspace.ts';
import { startTeam } from '../support/team.ts';

const FORMER = 'T0FORMER01';

it('the requests of a former workspace are refused, whatever is still stored of it', async () => {
  await using team = await startTeam();
  const { slack, app } = team;
  const { workspaces, apiKeys, audit } = app.ports;
  team.hosting.seedServers(team.account, 1, 'web');
  await workspaces.put({ id: FORMER, name: 'Former' }, 0);
  await apiKeys.put(FORMER, new Secret(team.apiKey), USERS.olga.id, 0);
  const fields = slack.commandFields('olga', '#ops', 'reboot web-1');
  await slack.deliverSigned({ fields: { ...fields, team_id: FORMER } });
  await slack.as('olga').in('#ops').sees('isn’t set up for this workspace');
  expect(team.hosting.requests()).toEqual([]);
  const [entry] = await audit.list({ workspaceId: FORMER, limit: 9 });
  expect(entry).toMatchObject({ outcome: 'denied', code: 'other_workspace' });
});

it('users are asked to try again while Slack has not said which workspace the token is for', async () => {
  await using team = await startTeam();
  team.slack.faults.failMethod('auth.test', 'internal_error');
  await team.restart();
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps list');
  await owner.sees('Try again in a minute');
});
