import { describe, test } from 'vitest';
import { startDigestTeam } from '../../support/digest-team.ts';

const SERVERS = 50;

describe.concurrent('Show all… on a digest of fifty servers', () => {
  test('pages through the buttons of all of them, down to the last', async ({ expect }) => {
    await using team = await startDigestTeam({}, { hasRateLimits: false });
    team.hosting.seedServers(team.account, SERVERS, 'web');
    team.untilDigest(24);
    const operator = team.slack.as('otto').in('#ops');
    await operator.sees('50 servers to renew soon');
    await operator.presses('Show all…');
    await operator.sees('Showing 1–15 of 50, most urgent first.');
    for (const range of ['16–30 of 50', '31–45 of 50', '46–50 of 50']) {
      await operator.presses('Next');
      await operator.sees(range);
    }
    const labels = operator.modal()?.shown.match(/web-\d+(?= ·)/g) ?? [];
    const last = labels.at(-1) ?? 'none';
    expect(labels).toHaveLength(5);
    // The last one of those that are shown.
    await operator.presses('Snooze 1 day');
    await operator.sees(`Reminders for ${last} are snoozed until`);
    await operator.sees(new RegExp(`${last} · snoozed by @otto until`));
    expect(operator.modal()?.shown).toContain('46–50 of 50');
    await operator.presses('Remind again');
    await operator.sees(`Reminders for ${last} are on again`);
    await operator.presses('Let it expire');
    await operator.sees('You need the manager role');
    const audit = await team.listAudit();
    expect(audit).toContain('otto reminder_snooze done');
    expect(audit).toContain('otto reminder_end denied role_needed');
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test('renews and ends reminders with the same checks, and pays once', async ({ expect }) => {
    await using team = await startDigestTeam({}, { hasRateLimits: false });
    team.hosting.seedServers(team.account, SERVERS, 'web');
    team.untilDigest(24);
    await team.manager.sees('50 servers to renew soon');
    await team.manager.presses('Show all…');
    await team.manager.presses('Next');
    await team.manager.sees('16–30 of 50');
    const labels = team.manager.modal()?.shown.match(/web-\d+(?= ·)/g) ?? [];
    await team.manager.presses('Let it expire');
    await team.manager.sees(`No more reminders for ${labels.at(-1)}`);
    await team.manager.presses('Renew and pay…');
    await team.manager.sees('Renew and pay');
    await team.manager.presses('Renew and pay');
    await team.manager.sees(`${labels.at(-2)} was renewed`);
    expect(team.hosting.charges(team.account)).toHaveLength(1);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test('shows a viewer only what their role covers', async ({ expect }) => {
    await using team = await startDigestTeam({}, { hasRateLimits: false });
    team.hosting.seedServers(team.account, SERVERS, 'web');
    await team.slack.as('olga').in('#ops').types('/vps access grant @nora viewer on web-1*');
    team.untilDigest(24);
    const user = team.slack.as('nora').in('#ops');
    await user.sees('50 servers to renew soon');
    await user.presses('Show all…');
    // web-1, and web-10 to web-19.
    await user.sees('11 servers to renew soon');
    await user.presses('Snooze 1 day');
    await user.sees('You need the operator role');
    expect(user.modal()?.shown).not.toContain('web-2 ·');
  });
});
