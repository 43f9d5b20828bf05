import { describe, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts';
import { startDigestTeam } from '../../support/digest-team.ts';

const PATIENT = { timeout: 60_000 };

describe.concurrent('a reminder', () => {
  test('can be snoozed for a day: the digest says by whom, and the next one leaves the server out', async ({
    expect,
  }) => {
    await using team = await startDigestTeam();
    team.hosting.seedServers(team.account, 2, 'web');
    team.untilDigest(24);
    const operator = team.slack.as('otto').in('#ops');
    await operator.sees('2 servers to renew soon');
    await operator.presses('Snooze 1 day');
    await operator.sees('Reminders for web-2 are snoozed until');
    await expect.poll(() => team.digests()[0], PATIENT).toMatch(/web-2 · snoozed by @otto until \w+ \d+/);
    expect(team.digests()[0]).toMatch(/1 server to renew soon/);
    team.system.move(DAY_MS);
    await expect.poll(() => team.digests().length, PATIENT).toBe(2);
    expect(team.digests()[1]).toMatch(/1 server to renew soon/);
    expect(team.digests()[1]).not.toContain('web-2 ·');
    expect(team.digests()[1]).toContain('Hidden: 1 snoozed. /vps reminders shows them.');
    // The digest of the day before has no buttons any more.
    await expect.poll(() => team.digests()[0], PATIENT).toContain('A newer digest has replaced this one.');
    expect(team.digests()[0]).not.toContain('[');
    team.system.move(DAY_MS);
    await expect.poll(() => team.digests()[2], PATIENT).toContain('2 servers to renew soon');
    expect(await team.listAudit()).toContain('otto reminder_snooze done');
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test('can be ended by a manager, and turned on again, from the digest and from /vps reminders', async ({
    expect,
  }) => {
    await using team = await startDigestTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    team.untilDigest(24);
    const operator = team.slack.as('otto').in('#ops');
    await operator.sees('1 server to renew soon');
    await operator.presses('Let it expire');
    await operator.sees('You need the manager role');
    await team.manager.presses('Let it expire', { confirm: false });
    await team.manager.presses('Let it expire');
    await team.manager.sees('No more reminders for web-1');
    await expect.poll(() => team.digests()[0], PATIENT).toContain('web-1 · @mara is letting it expire');
    await operator.presses('Remind again');
    await operator.sees('Reminders for web-1 are on again');
    await expect.poll(() => team.digests()[0], PATIENT).toMatch(/web-1 · \d days left/);
    await team.manager.presses('Let it expire');
    await expect.poll(() => team.digests()[0], PATIENT).toContain('@mara is letting it expire');
    // With nothing else to tell, the next days have no digest, and the command still knows of it.
    team.system.move(DAY_MS);
    await expect
      .poll(() => team.app.ports.digests.findLastAt('T0SANDBOX'), PATIENT)
      .toBeGreaterThan(team.system.now() - HOUR_MS);
    expect(team.digests()).toHaveLength(1);
    const fresh = team.manager.overlooksOldMessages();
    await fresh.types('/vps reminders');
    await fresh.sees('web-1 · @mara is letting it expire');
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test('is for one paid month: a button on an old message doesn’t affect the next month', async ({
    expect,
  }) => {
    await using team = await startDigestTeam();
    const [id = 0] = team.hosting.seedServers(team.account, 1, 'web');
    team.untilDigest(24);
    await team.manager.sees('1 server to renew soon');
    team.renewOutside(id);
    // A list that was read a moment ago is good for two seconds.
    team.system.move(3000);
    await team.manager.presses('Let it expire');
    await team.manager.sees('web-1 was renewed while you were looking at this');
    expect(await team.app.ports.reminders.listMarks('T0SANDBOX')).toEqual([]);
  });

  test('is followed by one notice when the paid time has ended, which says who let the server expire', async ({
    expect,
  }) => {
    await using team = await startDigestTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    team.untilDigest(24);
    await team.manager.sees('1 server to renew soon');
    await team.manager.presses('Let it expire');
    await team.manager.sees('No more reminders for web-1');
    team.system.move(8 * DAY_MS);
    await expect
      .poll(() => team.digests()[1], PATIENT)
      .toMatch(/Paid time ended\s+• web-1 · .* · @mara let it expire/);
    team.system.move(DAY_MS);
    await expect
      .poll(() => team.app.ports.digests.findLastAt('T0SANDBOX'), PATIENT)
      .toBeGreaterThan(team.system.now() - HOUR_MS);
    expect(team.digests()).toHaveLength(2);
  });

  test('can be seen and changed only by users whose role covers the server', async ({ expect }) => {
    await using team = await startDigestTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    team.hosting.seedServers(team.account, 1, 'db');
    team.untilDigest(24);
    await team.manager.sees('2 servers to renew soon');
    await team.app.ports.grants.put({
      workspaceId: 'T0SANDBOX',
      subjectKind: 'user',
      subjectId: 'U0NOBODY01',
      role: 'manager',
      pattern: 'db-*',
      grantedBy: 'U0OWNER001',
      grantedAt: 0,
    });
    const limited = team.slack.as('nora').in('#ops').overlooksOldMessages();
    await limited.types('/vps reminders');
    await limited.sees('db-1 ·');
    limited.doesNotSee('web-1 ·');
    await team.slack.as('nora').in('#ops').presses('Renew all…');
    await limited.sees('One more month for 1 server is charged');
    limited.doesNotSee('web-1 ·');
    expect(team.slack.brokenRules()).toEqual([]);
  });
});
