import { describe, expect, it } from 'vitest';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { startRuledTeam, TWO_PERSONS } from '../../support/ruled-team.ts';
import { startTeam, type TeamOptions } from '../../support/team.ts';

async function startWithServer(options: TeamOptions = {}) {
  const team = await startTeam(options);
  team.hosting.seedServers(team.account, 1, 'web');
  return team;
}

describe('in a channel that is shared with another organization', () => {
  it('the outcome of a reboot is shown only to the user who rebooted', async () => {
    await using team = await startWithServer();
    const operator = team.slack.as('otto').in('#acme-shared');
    await operator.types('/vps reboot web-1');
    await operator.sees('web-1 was rebooted');
    team.slack.as('sam').in('#acme-shared').doesNotSee('web-1');
    expect(team.slack.brokenRules()).toEqual([]);
  });

  it('the outcome of a purchase is shown only to its buyer', async () => {
    await using team = await startWithServer();
    const manager = team.slack.as('mara').in('#acme-shared');
    await manager.types('/vps create plan=small location=ams image=debian-13 label=web-9');
    await manager.presses('Create and pay');
    await manager.sees('web-9 is being created');
    team.slack.as('sam').in('#acme-shared').doesNotSee('web-9');
    expect(team.slack.brokenRules()).toEqual([]);
  });

  it('no request for approval is posted; users who may approve it get it as a direct message', async () => {
    await using team = await startRuledTeam({ ...TWO_PERSONS, channelId: 'C0SHARED01' });
    await team.askCreate('web-9');
    team.slack.as('sam').in('#acme-shared').doesNotSee('web-9');
    expect(team.slack.brokenRules()).toEqual([]);
  });

  it('requests for approval can’t be posted: settings refuse the channel', async () => {
    await using team = await startTeam();
    const owner = team.slack.as('olga').in('#ops');
    await owner.types('/vps settings approvals');
    await expect(owner.fills({ 'Approvals channel': '#acme-shared' })).rejects.toThrow('not offered');
    await owner.fills({ 'Approvals channel': '#general' });
    team.slack.admin.inviteOrganization('#general');
    await owner.presses('Save');
    await owner.sees('the channel is shared with another organization');
    expect(team.slack.brokenRules()).toEqual([]);
  });
});

it('a channel to which another organization is invited counts as shared', async () => {
  await using team = await startWithServer();
  team.slack.admin.inviteOrganization('#ops');
  const operator = team.slack.as('otto').in('#ops');
  await operator.types('/vps reboot web-1');
  await operator.sees('web-1 was rebooted');
  team.slack.as('vera').in('#ops').doesNotSee('web-1');
  expect(team.slack.brokenRules()).toEqual([]);
});

it('without channels:read nothing is announced, since the channel may be shared', async () => {
  await using team = await startWithServer({ scopes: ['commands', 'chat:write', 'users:read'] });
  const operator = team.slack.as('otto').in('#acme-shared');
  await operator.types('/vps reboot web-1');
  await operator.sees('web-1 was rebooted');
  team.slack.as('sam').in('#acme-shared').doesNotSee('web-1');
  expect(team.app.ports.slackAbilities.read(TEAM.id).channel_lookups).toMatchObject({
    code: 'missing_scope',
  });
});
