import { describe, expect, it } from 'vitest';
import { startTeam, type TeamOptions } from '../../support/team.ts';

async function startWithViewer(options: TeamOptions = {}) {
  const team = await startTeam(options);
  return Object.assign(team, { viewer: team.slack.as('vera').in('#ops') });
}

describe('/vps status', () => {
  it('shows a viewer that lookups work, and that messages were not tried in the last hour', async () => {
    await using team = await startWithViewer();
    await team.viewer.types('/vps status');
    await team.viewer.sees('Direct messages: not tried in the last hour');
    await team.viewer.sees('Announcements in channels: not tried in the last hour');
    for (const lookups of ['User lookups', 'User group lookups', 'Channel lookups'])
      await team.viewer.sees(`${lookups}: OK`);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  it('shows that announcements work once one was made', async () => {
    await using team = await startWithViewer();
    team.hosting.seedServers(team.account, 1, 'web');
    await team.slack.as('otto').in('#ops').types('/vps reboot web-1');
    await team.viewer.sees('rebooted web-1');
    await team.viewer.types('/vps status');
    await team.viewer.sees('Announcements in channels: OK');
  });

  it('names each scope that the app lacks, and what depends on it', async () => {
    await using team = await startWithViewer({ scopes: ['commands', 'chat:write'] });
    await team.viewer.types('/vps status');
    for (const line of [
      'User lookups: off. Add the scope users:read',
      'User group lookups: off. Add the scope usergroups:read',
      'Channel lookups: off. Add the scopes channels:read and groups:read',
      'Announcements in channels: off, because we can’t tell',
    ])
      await team.viewer.sees(line);
  });

  it('says that owners have turned announcements off', async () => {
    await using team = await startWithViewer();
    const owner = team.slack.as('olga').in('#ops');
    await owner.types('/vps settings notifications');
    await owner.fills({ 'Announce changes in the channel': 'No' });
    await owner.presses('Save');
    await team.viewer.types('/vps status');
    await team.viewer.sees('Announcements in channels: turned off in /vps settings');
  });

  it('typed in a direct message doesn’t claim that channel lookups work', async () => {
    await using team = await startWithViewer();
    const viewer = team.viewer.in('dm');
    await viewer.types('/vps status');
    await viewer.sees('Channel lookups: not tried in the last hour');
    expect(team.slack.brokenRules()).toEqual([]);
  });
});
