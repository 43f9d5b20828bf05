import { describe, test } from 'vitest';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { SCOPES, startTeam, type Team } from '../../support/team.ts';

const digestOf = async ({ app }: Team) => (await app.ports.workspaces.find(TEAM.id))?.settings.digest;
const DAYS = 'Days before the paid time ends';

async function opening(options: Parameters<typeof startTeam>[0] = {}) {
  const team = await startTeam(options);
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps settings notifications');
  await owner.sees('Digest channel');
  return Object.assign(team, { owner });
}

describe.concurrent('the settings of the digest', () => {
  test('propose nine o’clock in the owner’s own time zone, and are off until a channel is chosen', async ({
    expect,
  }) => {
    await using team = await opening();
    await team.owner.sees('[Europe/Berlin]');
    await team.owner.sees('09:00');
    await team.owner.sees('7, 3, 1');
    await team.owner.fills({ 'Announce changes in the channel': 'No' });
    await team.owner.presses('Save');
    await team.owner.sees('Settings saved');
    expect(await digestOf(team)).toBeUndefined();
    await team.owner.closes();
    await team.owner.types('/vps settings notifications');
    await team.owner.fills({ 'Digest channel': '#ops', Hour: '17:00', [DAYS]: '2 14' });
    await team.owner.presses('Save');
    await team.owner.sees('• The daily digest is posted in #ops');
    await team.owner.sees('• The digest is posted between 17:00 and 17:15');
    await team.owner.sees('• The digest’s time zone is Europe/Berlin');
    await team.owner.sees('@olga set this channel for the daily digest.');
    expect(await digestOf(team)).toEqual({
      channelId: 'C0OPS00001',
      hour: 17,
      zone: 'Europe/Berlin',
      daysBefore: [14, 2],
    });
    const [entry] = await team.app.ports.audit.list({ workspaceId: TEAM.id, limit: 1 });
    expect(entry?.label).toContain('digest.channel none → C0OPS00001, digest.hour none → 17');
    await team.owner.closes();
    await team.owner.types('/vps settings notifications');
    await team.owner.fills({ 'Digest channel': '' });
    await team.owner.presses('Save');
    await team.owner.sees('• There’s no daily digest');
    expect(await digestOf(team)).toBeUndefined();
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test('propose UTC without users:read', async ({ expect }) => {
    const scopes = SCOPES.filter((scope) => scope !== 'users:read');
    await using team = await opening({ scopes });
    await team.owner.sees('[UTC]');
    team.owner.doesNotSee('[Europe/Berlin]');
    await team.owner.fills({ 'Digest channel': '#ops' });
    await team.owner.presses('Save');
    await team.owner.sees('• The digest’s time zone is UTC');
    expect((await digestOf(team))?.zone).toBe('UTC');
  });

  test('refuse time zones, days and channels that can’t be', async ({ expect }) => {
    await using team = await opening();
    await expect(team.owner.fills({ 'Digest channel': '#acme-shared' })).rejects.toThrow('not offered');
    await team.owner.fills({ 'Digest channel': '#ops', 'Time zone': 'Berlin', [DAYS]: 'a week' });
    await team.owner.presses('Save');
    await team.owner.sees('Enter a time zone such as Europe/Berlin');
    await team.owner.sees('Enter up to five numbers of days from 1 to 60');
    await team.owner.fills({ 'Digest channel': '#general', 'Time zone': 'asia/tokyo', [DAYS]: '5' });
    team.slack.admin.inviteOrganization('#general');
    await team.owner.presses('Save');
    await team.owner.sees('the channel is shared with another organization');
    await team.owner.fills({ 'Digest channel': '#ops' });
    await team.owner.presses('Save');
    await team.owner.sees('• The digest’s time zone is Asia/Tokyo');
    expect(await digestOf(team)).toMatchObject({ zone: 'Asia/Tokyo', daysBefore: [5] });
  });
});
