import { describe, test } from 'vitest';
import { money } from '../../../src/domain/money.ts';
import { DEFAULT_SETTINGS } from '../../../src/domain/settings.ts';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { startTeam, type Team } from '../../support/team.ts';
import { envelope, visitor } from '../../support/visitor.ts';

const settingsOf = async ({ app }: Team) => (await app.ports.workspaces.find(TEAM.id))?.settings;

async function opening(options: Parameters<typeof startTeam>[0] = {}) {
  const team = await startTeam(options);
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps settings');
  await owner.sees('Two-person rule');
  return Object.assign(team, { owner });
}

const ABOVE = 'To create a server that costs more a month than';
const CHANNEL = 'Channel for requests to approve, and reminders';

describe.concurrent('the settings of a workspace', () => {
  test('are changed by an owner in one form, confirmed in words, and audited', async ({ expect }) => {
    await using team = await opening();
    await team.owner.fills({
      'Tell channels what was done in them': 'No',
      'To delete a server': 'On',
      [ABOVE]: '20',
      'By the whole workspace': '100.50',
      'By each person': '0',
      [CHANNEL]: '#general',
    });
    await team.owner.presses('Save');
    await team.owner.sees(
      'Saved: channels are not told what was done in them; a delete takes a second person',
    );
    await team.owner.sees('a create that costs more than 20.00 a month takes a second person');
    await team.owner.sees('the workspace may spend 100.50 a month; each person may spend 0.00 a month');
    await team.owner.sees('requests to approve and reminders go to #general');
    expect(await settingsOf(team)).toEqual({
      announces: false,
      approval: { delete: true, renew: false, createAbove: 2000 },
      budget: { workspace: 10_050, person: 0 },
      channelId: 'C0GENERAL1',
    });
    const [entry] = await team.app.ports.audit.list({ workspaceId: TEAM.id, limit: 1 });
    expect(entry).toMatchObject({ action: 'settings_change', outcome: 'done' });
    expect(entry?.label).toBe(
      'announces true → false, approval.delete false → true, approval.createAbove none → 20.00, budget.workspace none → 100.50, budget.person none → 0.00, channel none → C0GENERAL1',
    );
    await team.slack
      .as('olga')
      .in('#general')
      .sees('wants requests to approve, and reminders, of /vps to come here');
    await team.owner.closes();
    await team.owner.types('/vps settings');
    await team.owner.sees('20.00');
    await team.owner.fills({ 'To delete a server': 'Off', [ABOVE]: '', [CHANNEL]: '' });
    await team.owner.presses('Save');
    await team.owner.sees('a delete does not take a second person; a create does not take a second person');
    expect(await settingsOf(team)).toMatchObject({ approval: { delete: false, renew: false } });
    expect(team.slack.brokenLaws()).toEqual([]);
  });

  test('show errors beside their fields, and save nothing', async ({ expect }) => {
    await using team = await opening();
    for (const wrong of ['many', '-5', '4.999', '1e3', '5 EUR', '12,50', '9999999999999']) {
      await team.owner.fills({ 'By each person': wrong });
      await team.owner.presses('Save');
      await team.owner.sees('Write an amount such as 25 or 4.99');
    }
    await team.owner.fills({ 'By each person': '5', [CHANNEL]: '#random' });
    await team.owner.presses('Save');
    await team.owner.sees('The app can’t write to that channel: it is no member of it');
    expect(await settingsOf(team)).toEqual(DEFAULT_SETTINGS);
    team.slack.admin.archive('#general');
    await team.owner.fills({ [CHANNEL]: '#general' });
    await team.owner.presses('Save');
    await team.owner.sees(/can’t write to that channel: [^\n]*archived/);
    expect(await settingsOf(team)).toEqual(DEFAULT_SETTINGS);
  });

  test('don’t overwrite what another owner saved in the meantime', async ({ expect }) => {
    await using team = await opening();
    const { app } = team;
    const one = { ...DEFAULT_SETTINGS, budget: { person: money(500) } };
    await app.ports.workspaces.changeSettings(TEAM.id, DEFAULT_SETTINGS, one);
    await team.owner.fills({ 'To renew a server': 'On' });
    await team.owner.presses('Save');
    await team.owner.sees('Somebody else has changed these settings while your form was open');
    expect(await settingsOf(team)).toEqual(one);
    const [entry] = await app.ports.audit.list({ workspaceId: TEAM.id, limit: 1 });
    expect(entry).toMatchObject({ action: 'settings_change', outcome: 'failed', code: 'settings_moved' });
  });

  test('are saved only once when two owners save at the same time', async ({ expect }) => {
    await using team = await startTeam();
    const fields = { announces: 'on', approveDelete: 'off', approveRenew: 'off' };
    const by = visitor(team, 'olga');
    const save = (place: number) =>
      by.submits('settings', envelope(DEFAULT_SETTINGS, `form-${place}`), {
        ...fields,
        personBudget: String(place),
      });
    await Promise.all([1, 2, 3, 4].map(save));
    await expect.poll(async () => outcomes(team)).toEqual(['done', 'failed', 'failed', 'failed']);
  });

  test('are not written again if nothing was changed', async ({ expect }) => {
    await using team = await opening();
    await team.owner.presses('Save');
    await team.owner.sees('Nothing was changed.');
    expect(await outcomes(team)).toEqual([]);
  });

  test('can only be changed by owners, by any path', async ({ expect }) => {
    await using team = await startTeam();
    const manager = team.slack.as('mara').in('#ops');
    await manager.types('/vps settings');
    await manager.sees('This takes the role owner');
    const fields = { announces: 'off', approveDelete: 'off', approveRenew: 'off', channel: 'C0OPS00001' };
    const forged = await visitor(team, 'mara').submits('settings', envelope(DEFAULT_SETTINGS, 'f'), fields);
    expect(forged.response).toContain('This takes the role');
    expect(await settingsOf(team)).toEqual(DEFAULT_SETTINGS);
    manager.doesNotSee('wants requests to approve');
    for (const was of [{}, { announces: 'yes' }, { ...DEFAULT_SETTINGS, budget: { person: -1 } }]) {
      const broken = await visitor(team, 'olga').submits('settings', envelope(was, 'f'), fields);
      expect(broken.response).toContain('of an older version');
    }
    expect(await settingsOf(team)).toEqual(DEFAULT_SETTINGS);
  });

  test('decide whether changes are announced in channels', async () => {
    await using team = await opening();
    await team.owner.fills({ 'Tell channels what was done in them': 'No' });
    await team.owner.presses('Save');
    await team.owner.sees('Saved');
    await team.owner.closes();
    team.hosting.seedServers(team.account, 1, 'web');
    await team.owner.types('/vps reboot web-1');
    await team.owner.sees('web-1 was rebooted');
    team.slack.as('vera').in('#ops').doesNotSee('rebooted');
  });
});

async function outcomes({ app }: Team): Promise<readonly string[]> {
  const entries = await app.ports.audit.list({ workspaceId: TEAM.id, limit: 100 });
  return entries
    .filter(({ action, outcome }) => action === 'settings_change' && outcome !== 'started')
    .map(({ outcome }) => outcome)
    .sort();
}
