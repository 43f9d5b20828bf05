import { describe, test } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';
import { USERS } from '../../../src/sandbox/slack/workspace.ts';
import { startRuledTeam, TWO_PERSONS } from '../../support/ruled-team.ts';

const FREEZE = { by: USERS.olga.id, since: Date.UTC(2026, 0, 31) };
const CREATE = '/vps create plan=small location=ams image=debian-13 label=web-1';

describe.concurrent('while purchases are frozen', () => {
  test('no order form opens, and the user is told who froze them', async ({ expect }) => {
    await using team = await startRuledTeam({ ...DEFAULT_SETTINGS, freeze: FREEZE });
    team.hosting.seedServers(team.account, 1, 'web');
    for (const command of [CREATE, '/vps renew web-1']) {
      await team.manager.types(command);
      await team.manager.sees('Purchases are frozen (by @olga');
      await team.manager.closes();
    }
    expect([team.creates(), team.charges()]).toEqual([0, 0]);
  });

  test('/vps status says who froze them', async ({ expect }) => {
    await using team = await startRuledTeam({ ...DEFAULT_SETTINGS, freeze: FREEZE });
    await team.manager.types('/vps status');
    await team.manager.sees('Purchases are frozen (by @olga');
    await team.setSettings(DEFAULT_SETTINGS);
    const fresh = team.manager.overlooksOldMessages();
    await fresh.types('/vps status');
    await fresh.sees('The hosting API is up');
    fresh.doesNotSee('Purchases are frozen');
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test('an order whose form was open before is refused: nothing is charged', async ({ expect }) => {
    await using team = await startRuledTeam(DEFAULT_SETTINGS);
    await team.manager.types(CREATE);
    await team.manager.sees('Create and pay');
    await team.setSettings({ ...DEFAULT_SETTINGS, freeze: FREEZE });
    await team.manager.presses('Create and pay');
    await team.manager.sees('Nothing was ordered or charged.');
    expect([team.creates(), team.charges()]).toEqual([0, 0]);
  });

  test('a purchase can’t be approved until the freeze is lifted', async ({ expect }) => {
    await using team = await startRuledTeam();
    await team.askCreate();
    await team.setSettings({ ...TWO_PERSONS, freeze: FREEZE });
    await team.owner.presses('Approve');
    await team.owner.sees('Purchases are frozen (by @olga');
    expect(team.creates()).toBe(0);
    await team.setSettings(TWO_PERSONS);
    await team.owner.presses('Approve');
    await expect.poll(() => team.charges()).toBe(1);
  });
});
