import { describe, expect, it, test } from 'vitest';
import { money } from '../../../src/core/money.ts';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';
import { DAY_MS } from '../../../src/core/time.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { entry } from '../../db/fixtures.ts';
import { envelope, rawUser } from '../../support/raw-user.ts';
import { startTeam, type Team, type TeamOptions } from '../../support/team.ts';

const settingsOf = async ({ app }: Team) => (await app.ports.workspaces.find(TEAM.id))?.settings;

async function opening(screen: 'spending' | 'approvals' | 'notifications', options: TeamOptions = {}) {
  const team = await startTeam(options);
  await team.owner.types(`/vps settings ${screen}`);
  await team.owner.sees('[Save]');
  return team;
}

const ABOVE = 'Creating servers that cost more than (per month)';
const CHANNEL = 'Approvals channel';

describe.concurrent('the settings of a workspace', () => {
  test('are shown together, and changed by an owner in three screens', async () => {
    await using team = await startTeam();
    const { owner } = team;
    const saves = async (button: string, values: Parameters<typeof owner.fills>[0]) => {
      await owner.types('/vps settings');
      await owner.presses(button);
      await owner.fills(values);
      await owner.presses('Save');
      await owner.sees('Settings saved');
    };
    await owner.types('/vps settings');
    await owner.sees('• Monthly workspace budget: none');
    await owner.sees('• Renewals need approval: off');
    await owner.sees('• Daily digest channel: none');
    await owner.closes();
    await saves('Notifications…', { 'Announce changes in the channel where they’re made': 'No' });
    await owner.sees('• Announce changes: off');
    await owner.closes();
    await saves('Spending…', { Workspace: '100.50', 'Per person': '0' });
    await owner.sees('• Monthly workspace budget: 100.50');
    await owner.sees('• Monthly budget per person: 0.00');
    await owner.closes();
    await saves('Approvals…', { 'Deleting servers': 'On', [ABOVE]: '20', [CHANNEL]: '#general' });
    await owner.sees('• Deletions need approval: on');
    await owner.sees('• Price above which new servers need approval: 20.00');
    await owner.sees('• Approval requests go to: #general');
    expect(await settingsOf(team)).toEqual({
      announces: false,
      approval: { delete: true, renew: false, createAbove: 2000 },
      budget: { workspace: 10_050, person: 0 },
      channelId: 'C0GENERAL1',
    });
    const [entry] = await team.app.ports.audit.list({ workspaceId: TEAM.id, limit: 1 });
    expect(entry).toMatchObject({ action: 'settings_change', outcome: 'done' });
    expect(entry?.label).toBe(
      'approval.delete false → true, approval.createAbove none → 20.00, channel none → C0GENERAL1',
    );
    await team.slack
      .as('olga')
      .in('#general')
      .sees('@olga is setting up this channel for approval requests.');
    await owner.closes();
    await owner.types('/vps settings');
    await owner.sees('• Monthly budget per person: 0.00');
    await owner.presses('Approvals…');
    await owner.sees('[20.00]');
    await owner.fills({ 'Deleting servers': 'Off', [ABOVE]: '', [CHANNEL]: '' });
    await owner.presses('Save');
    await owner.sees('• Deletions need approval: off');
    await owner.sees('• Price above which new servers need approval: none');
    expect(await settingsOf(team)).toMatchObject({
      approval: { delete: false, renew: false },
      budget: { workspace: 10_050, person: 0 },
    });
  });

  test('show errors beside their fields, and save nothing', async () => {
    await using team = await opening('spending');
    for (const wrong of ['many', '-5', '4.999', '1e3', '5 EUR', '12,50', '9999999999999']) {
      await team.owner.fills({ 'Per person': wrong });
      const refused = await team.owner.presses('Save');
      expect(refused?.response, wrong).toContain('Enter an amount such as 25 or 4.99');
    }
    await team.owner.closes();
    await team.owner.types('/vps settings approvals');
    for (const wrong of ['#acme-shared', '@mara'])
      await expect(team.owner.fills({ [CHANNEL]: wrong })).rejects.toThrow('not offered');
    await team.owner.fills({ [CHANNEL]: '#random' });
    await team.owner.presses('Save');
    await team.owner.sees(
      'The app can’t post in that channel. The app isn’t a member of the channel. Invite it there with /invite.',
    );
    expect(await settingsOf(team)).toEqual(DEFAULT_SETTINGS);
    await team.owner.fills({ [CHANNEL]: '#general' });
    team.slack.admin.archive('#general');
    await team.owner.presses('Save');
    await team.owner.sees(/can’t post in that channel\. [^\n]*archived/);
    await team.owner.fills({ [CHANNEL]: '#ops' });
    team.slack.admin.inviteOrganization('#ops');
    await team.owner.presses('Save');
    await team.owner.sees('The channel is shared with another organization.');
    expect(await settingsOf(team)).toEqual(DEFAULT_SETTINGS);
  });

  test('don’t overwrite what another owner saved in the meantime, are saved once by several at once, and not at all unchanged', async ({
    expect,
  }) => {
    await using team = await opening('approvals');
    const { app } = team;
    const one = { ...DEFAULT_SETTINGS, budget: { person: money(500) } };
    await app.ports.workspaces.changeSettings(TEAM.id, DEFAULT_SETTINGS, one);
    await team.owner.fills({ 'Renewing servers': 'On' });
    await team.owner.presses('Save');
    await team.owner.sees('Someone else changed the settings while your form was open');
    expect(await settingsOf(team)).toEqual(one);
    const [entry] = await app.ports.audit.list({ workspaceId: TEAM.id, limit: 1 });
    expect(entry).toMatchObject({ action: 'settings_change', outcome: 'failed', code: 'settings_moved' });
    await team.owner.closes();
    await team.owner.types('/vps settings notifications');
    await team.owner.presses('Save');
    await team.owner.sees('Nothing was changed.');
    expect(await outcomes(team)).toEqual(['failed']);
    const by = rawUser(team, 'olga');
    const save = (place: number) =>
      by.submits('settings_spending', envelope(one, `form-${place}`), {
        freeze: 'off',
        personBudget: String(place),
      });
    await Promise.all([1, 2, 3, 4].map(save));
    await expect.poll(async () => outcomes(team)).toEqual(['done', 'failed', 'failed', 'failed', 'failed']);
  });

  test('can only be changed by owners, by any path', async () => {
    await using team = await startTeam();
    await team.manager.types('/vps settings');
    await team.manager.sees('You need the owner role');
    const fields = { approveDelete: 'off', approveRenew: 'off', channel: 'C0OPS00001' };
    const forged = await rawUser(team, 'mara').submits(
      'settings_approvals',
      envelope(DEFAULT_SETTINGS, 'f'),
      fields,
    );
    expect(forged.response).toContain('You need the');
    expect(await settingsOf(team)).toEqual(DEFAULT_SETTINGS);
    team.manager.doesNotSee('approval requests');
    for (const was of [{}, { announces: 'yes' }, { ...DEFAULT_SETTINGS, budget: { person: -1 } }]) {
      const broken = await rawUser(team, 'olga').submits('settings_approvals', envelope(was, 'f'), fields);
      expect(broken.response).toContain('out of date');
    }
    expect(await settingsOf(team)).toEqual(DEFAULT_SETTINGS);
  });
});

describe.concurrent('the settings form', () => {
  test('names amounts in the operator’s currency', async () => {
    await using team = await opening('spending', { settings: { HOSTING_CURRENCY: 'USD' } });
    await team.owner.sees('Workspace (USD)');
    await team.owner.fills({ 'Per person (USD)': '50' });
    await team.owner.presses('Save');
    await team.owner.sees('• Monthly budget per person: 50.00 USD');
  });

  test('says who froze purchases, keeps the freeze when other settings are saved, and can lift it', async () => {
    await using team = await opening('spending');
    await team.owner.fills({ 'Purchase freeze': 'On (no new servers, no renewals)' });
    await team.owner.presses('Save');
    await team.owner.sees('• Purchase freeze: on (by @olga)');
    await team.viewer.sees('froze purchases');
    await team.owner.closes();
    const frozen = (await settingsOf(team))?.freeze;
    expect(frozen).toMatchObject({ by: USERS.olga.id });
    await team.owner.types('/vps settings spending');
    await team.owner.sees('Purchases are frozen (by @olga');
    await team.owner.fills({ 'Per person': '5' });
    await team.owner.presses('Save');
    await team.owner.sees('• Monthly budget per person: 5.00');
    expect((await settingsOf(team))?.freeze).toEqual(frozen);
    await team.owner.closes();
    await team.owner.types('/vps settings spending');
    await team.owner.fills({ 'Purchase freeze': 'Off' });
    await team.owner.presses('Save');
    await team.owner.sees('• Purchase freeze: off');
    expect((await settingsOf(team))?.freeze).toBeUndefined();
  });
});

async function outcomes({ app }: Team): Promise<readonly string[]> {
  const entries = await app.ports.audit.list({ workspaceId: TEAM.id, limit: 100 });
  return entries
    .filter(({ action, outcome }) => action === 'settings_change' && outcome !== 'started')
    .map(({ outcome }) => outcome)
    .sort();
}

describe('/vps status', () => {
  it('names each missing scope that Slack refused something for, and what is lost without it', async () => {
    await using team = await startTeam({ servers: 1, scopes: ['commands', 'chat:write'] });
    await team.owner.types('/vps reboot web-1');
    await team.owner.sees('web-1 was rebooted');
    const nora = team.slack.as('nora');
    await nora.types('/vps list');
    await nora.sees('You need the viewer role');
    await team.viewer.types('/vps status');
    for (const line of [
      'The scope users:read is missing, so workspace admins aren’t owners',
      'The scope channels:read is missing, so nothing is announced in public channels',
      'The scope groups:read is missing, so nothing is announced in private channels',
    ])
      await team.viewer.sees(line);
  });
});

test('AUDIT_KEEP_DAYS removes older entries, audits the removal, and leaves a log that verifies', async ({
  expect,
}) => {
  await using team = await startTeam({ settings: { AUDIT_KEEP_DAYS: '30' } });
  for (const daysAgo of [40, 31, 29]) {
    const at = Date.now() - daysAgo * DAY_MS;
    await team.app.ports.audit.add(entry({ at, workspaceId: TEAM.id, actId: `${daysAgo} days ago` }));
  }
  await team.restart();
  const { audit } = team.app.ports;
  const list = () => audit.list({ workspaceId: TEAM.id, limit: 10 });
  await expect
    .poll(async () => (await list()).map(({ action, actorId, outcome }) => [action, actorId, outcome]))
    .toEqual([
      ['audit_prune', 'app', 'done'],
      ['audit_prune', 'app', 'started'],
      ['create', 'U1', 'done'],
    ]);
  expect((await list()).map(({ actId }) => actId)).toContain('29 days ago');
  expect(await audit.verify(TEAM.id)).toMatchObject({ ok: true, pruned: { count: 2 } });
});
