import { describe, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts';
import { startDigestTeam } from '../../support/digest-team.ts';

const ORDER = 'plan=small location=ams image=debian-13';

describe.concurrent('the daily digest', () => {
  test('lists the servers to renew, most urgent first, with their costs as far as they are known', async ({
    expect,
  }) => {
    await using team = await startDigestTeam();
    await team.manager.types(`/vps create ${ORDER} label=web-1`);
    await team.manager.presses('Create and pay');
    await team.manager.sees('web-1 is being created');
    team.system.move(HOUR_MS / 2);
    team.hosting.seedServers(team.account, 1, 'old');
    team.untilDigest(25);
    await team.manager.sees('Daily digest');
    const [digest = ''] = team.digests();
    expect(digest).toMatch(
      /2 servers to renew soon\. Known cost, at the prices last paid: 5\.90 \(1 server\)\. Price unknown: 1\./,
    );
    expect(digest.indexOf('web-1 ·')).toBeLessThan(digest.indexOf('old-1 ·'));
    expect(digest).toMatch(/web-1 · \d days left \(.*\) · 5\.90\/month/);
    expect(digest).toMatch(/old-1 · \d days left \(.*\) · price unknown/);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test('is posted once a day, also across restarts, and is not posted late for a missed day', async ({
    expect,
  }) => {
    await using team = await startDigestTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    team.untilDigest(24);
    await team.manager.sees('Daily digest');
    const reads = team.listReads();
    await team.restart();
    team.system.move(4 * HOUR_MS);
    await team.manager.types('/vps show web-1');
    await team.manager.sees('ssh root@');
    await expect.poll(() => team.listReads()).toBeGreaterThan(reads);
    expect(team.digests()).toHaveLength(1);
    // Three days pass while the app is down.
    await team.app.close();
    team.system.move(3 * DAY_MS);
    await team.restart();
    await expect.poll(() => team.digests().length).toBe(2);
    await team.restart();
    await team.manager.types('/vps renew web-1');
    await team.manager.sees('Renew and pay');
    expect(team.digests()).toHaveLength(2);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test('is not posted before its hour, without a channel, or with nothing to report', async ({ expect }) => {
    await using team = await startDigestTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    // Nothing is due yet: one read shows it, and the day is done.
    team.untilDigest();
    await expect.poll(() => team.listReads(), { timeout: 60_000 }).toBe(1);
    team.system.move(23 * HOUR_MS);
    await team.setSettings({ ...(await settingsOf(team)), announces: false });
    await expect.poll(async () => team.app.ports.digests.listWorkspaces()).toHaveLength(1);
    expect(team.digests()).toEqual([]);
    const { digest: _, ...off } = await settingsOf(team);
    await team.setSettings(off);
    team.untilDigest(24);
    await team.manager.types('/vps reminders');
    await team.manager.sees('Upcoming renewals');
    expect(team.digests()).toEqual([]);
  });

  test('is edited when a server is renewed with the app, by anybody and from anywhere', async ({
    expect,
  }) => {
    await using team = await startDigestTeam();
    const [first = 0] = team.hosting.seedServers(team.account, 3, 'web');
    team.untilDigest(26);
    await team.manager.sees('3 servers to renew soon');
    await team.manager.presses('Renew and pay…');
    await team.manager.sees('One more month is charged');
    await team.manager.presses('Renew and pay');
    await expect.poll(() => team.digests()[0]).toMatch(/web-3 · renewed by @mara, paid until/);
    const owner = team.slack.as('olga').in('#ops');
    await owner.types('/vps renew web-2');
    await owner.presses('Renew and pay');
    await expect.poll(() => team.digests()[0]).toMatch(/web-2 · renewed by @olga/);
    expect(team.digests()[0]).toMatch(/1 server to renew soon/);
    team.renewOutside(first);
    team.system.move(HOUR_MS);
    await owner.types('/vps list');
    await owner.sees('3 servers');
    expect(team.digests()[0]).toMatch(/1 server to renew soon/);
    expect(team.digests()).toHaveLength(1);
    expect(team.charges()).toBe(3);
    expect(team.slack.brokenRules()).toEqual([]);
  });
});

async function settingsOf({ app }: Awaited<ReturnType<typeof startDigestTeam>>) {
  const workspace = await app.ports.workspaces.find('T0SANDBOX');
  if (!workspace) throw new Error('the workspace is not stored');
  return workspace.settings;
}
