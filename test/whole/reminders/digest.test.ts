import { describe, expect, test } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { createServer, deleteServer } from '../../support/acts.ts';
import { startDigestTeam } from '../../support/ruled-team.ts';
import { grantRole, startTeam, type Team, type TeamOptions } from '../../support/team.ts';

const recordOf = ({ app }: Team) => app.ports.digests.find(TEAM.id);

describe.concurrent('the daily digest', () => {
  test('lists the servers to renew, most urgent first, with their costs as far as they are known', async () => {
    await using team = await startDigestTeam();
    await createServer(team.manager);
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
  });

  test('is posted once a day, also across restarts, and is not posted late for a missed day', async ({
    expect,
  }) => {
    await using team = await startDigestTeam({}, { servers: 1 });
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
    await team.manager.sees('We don’t know the price');
    expect(team.digests()).toHaveLength(2);
  });

  test('is not posted before its hour, without a channel, or with nothing to report', async ({ expect }) => {
    await using team = await startDigestTeam({}, { servers: 1 });
    // Nothing is due yet: one read shows it, and the day is done.
    team.untilDigest();
    await expect.poll(() => team.listReads()).toBe(1);
    team.system.move(23 * HOUR_MS);
    const { settings = DEFAULT_SETTINGS } = (await team.app.ports.workspaces.find(TEAM.id)) ?? {};
    await team.setSettings({ ...settings, announces: false });
    await expect.poll(async () => team.app.ports.digests.listWorkspaces()).toHaveLength(1);
    expect(team.digests()).toEqual([]);
    await team.setSettings(DEFAULT_SETTINGS);
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
    await team.owner.types('/vps renew web-2');
    await team.owner.presses('Renew and pay');
    await expect.poll(() => team.digests()[0]).toMatch(/web-2 · renewed by @olga/);
    expect(team.digests()[0]).toMatch(/1 server to renew soon/);
    team.renewOutside(first);
    team.system.move(HOUR_MS);
    await team.owner.types('/vps list');
    await team.owner.sees('3 servers');
    expect(team.digests()[0]).toMatch(/1 server to renew soon/);
    expect(team.digests()).toHaveLength(1);
    expect(team.charges()).toBe(3);
  });

  test('does not call a server renewed that a manager says was, nor do the outcome and the channel, until the date moves', async ({
    expect,
  }) => {
    await using team = await startDigestTeam({}, { servers: 1 });
    const { manager } = team;
    team.untilDigest(26);
    await manager.sees('1 server to renew soon');
    team.hosting.faults.add({ on: 'renew', kind: 'lost_before' });
    await manager.types('/vps renew web-1');
    await manager.presses('Renew and pay');
    await manager.sees('We’re not sure yet whether web-1 was renewed');
    team.system.move(HOUR_MS);
    await manager.sees('We can’t tell whether web-1 was renewed');
    await manager.closes();
    await manager.presses('Resolve…');
    await manager.fills({ 'Was it renewed?': 'It was renewed' });
    await manager.presses('Save');
    await manager.sees('@mara marked web-1 as renewed. We haven’t seen a new paid-until date');
    await manager.sees('@mara marked @mara’s renewal of web-1 as done');
    team.system.move(5000);
    await manager.types('/vps show web-1');
    await manager.sees('ssh root@');
    team.untilDigest();
    await expect.poll(() => team.digests()[1]).toMatch(/the renewal by @mara isn’t confirmed yet/);
    expect(team.digests()[1]).toContain('Nothing to renew right now. 1 renewal isn’t confirmed yet.');
    for (const words of ['renewed web-1 until', 'is now paid until']) manager.doesNotSee(words);
  });
});

describe.concurrent('changes outside of the app', () => {
  test('are listed once, in the next digest, without those that were made with the app', async ({
    expect,
  }) => {
    await using team = await startDigestTeam({}, { hasRateLimits: false });
    const { hosting, account } = team;
    const [one = 0, two = 0] = hosting.seedServers(account, 6, 'web');
    team.untilDigest();
    await expect.poll(async () => (await recordOf(team)).snapshot).toBeDefined();
    // Outside: one is deleted, one is stopped, one is new. With the app: the same three.
    hosting.servers.remove(account, String(one));
    hosting.servers.power(account, String(two), 'stop');
    hosting.seedServers(account, 1, 'surprise');
    await team.manager.types('/vps stop web-3');
    await team.manager.sees('stopped web-3');
    await deleteServer(team.manager, 'web-4');
    await createServer(team.manager, 'ours');
    team.system.move(DAY_MS);
    await expect
      .poll(() => team.digests()[0])
      .toContain('Changed outside this workspace since the last digest');
    const [digest = ''] = team.digests();
    expect(digest).toContain('New: surprise-1');
    expect(digest).toContain('No longer in the hosting account: web-1');
    expect(digest).toMatch(/web-2: 🟢 running → .* stopped/);
    for (const own of ['web-3', 'web-4', 'ours']) expect(digest).not.toContain(own);
    team.system.move(DAY_MS);
    await expect
      .poll(async () => (await recordOf(team)).lastAt)
      .toBeGreaterThan(team.system.now() - DAY_MS / 2);
    expect(team.digests()).toHaveLength(1);
  });

  test('are not reported when another hosting account was connected', async ({ expect }) => {
    await using team = await startDigestTeam();
    const { hosting } = team;
    hosting.seedServers(team.account, 3, 'web');
    team.untilDigest();
    await expect.poll(async () => (await recordOf(team)).snapshot).toBeDefined();
    const before = (await recordOf(team)).snapshot?.account;
    const other = hosting.accounts.create({ name: 'Other', balanceMinor: 1000 });
    hosting.seedServers(other, 2, 'other');
    const key = new Secret(hosting.createKey(other));
    await team.app.ports.apiKeys.put('T0SANDBOX', key, 'U0OWNER001', 0);
    team.system.move(DAY_MS);
    await expect.poll(async () => (await recordOf(team)).snapshot?.account).not.toBe(before);
    expect(team.digests()).toEqual([]);
  });
});

describe.concurrent('a digest that can’t be posted', () => {
  test('because its channel is shared with another organization is reported to owners once, and posted when it can be', async () => {
    const digest = { hour: 9, zone: 'UTC', daysBefore: [7] };
    const shared = { digest: { ...digest, channelId: 'C0SHARED01' } };
    await using team = await startDigestTeam(shared, { servers: 1 });
    team.untilDigest(24);
    await team.approver.sees('The daily digest couldn’t be posted in #acme-shared');
    await team.approver.sees('The channel is shared with another organization.');
    team.slack.as('sam').in('#acme-shared').doesNotSee('web-1');
    await team.setSettings({ ...DEFAULT_SETTINGS, digest: { ...digest, channelId: 'C0OPS00001' } });
    team.system.move(11 * 60_000);
    await team.manager.sees('Daily digest');
    expect(team.approver.messages().filter(({ shown }) => shown.includes('couldn’t be posted'))).toHaveLength(
      1,
    );
  });

  test('because Slack doesn’t say who reads its channel is reported to owners, and not posted', async () => {
    const scopes = ['commands', 'chat:write', 'users:read'];
    await using team = await startDigestTeam({}, { servers: 1, scopes });
    team.untilDigest(24);
    await team.approver.sees('can’t tell whether other organizations are in the channel');
    expect(team.digests()).toEqual([]);
  });

  test('because the hosting API doesn’t answer is posted once it does; otherwise the channel gets the reason', async ({
    expect,
  }) => {
    await using team = await startDigestTeam({}, { servers: 1 });
    team.hosting.faults.add({ on: 'servers', kind: 'status_500', times: 1000 });
    team.untilDigest(24);
    await expect.poll(() => team.listReads()).toBeGreaterThan(0);
    expect(team.digests()).toEqual([]);
    team.system.move(61 * 60_000);
    await team.manager.sees('There’s no digest today, because the list of servers couldn’t be read.');
    team.hosting.faults.clear();
    team.system.move(DAY_MS);
    await team.manager.sees('Daily digest');
  });
});

describe.concurrent('a reminder', () => {
  test('can be snoozed until three days are left: the digest says by whom, and the next ones leave the server out', async ({
    expect,
  }) => {
    await using team = await startDigestTeam({}, { servers: 2 });
    team.untilDigest(24);
    await team.operator.sees('2 servers to renew soon');
    await team.operator.presses(/^Snooze until/);
    await team.operator.sees('Reminders for web-2 are snoozed until');
    team.operator.doesNotSee('digest is off');
    await expect.poll(() => team.digests()[0]).toMatch(/web-2 · snoozed by @otto until \w+ \d+/);
    expect(team.digests()[0]).toMatch(/1 server to renew soon/);
    team.system.move(DAY_MS);
    await expect.poll(() => team.digests().length).toBe(2);
    expect(team.digests()[1]).toMatch(/1 server to renew soon/);
    expect(team.digests()[1]).not.toContain('web-2 ·');
    expect(team.digests()[1]).toContain('Hidden: 1 snoozed. /vps reminders shows them.');
    team.system.move(DAY_MS);
    await expect.poll(() => team.digests()[2]).toContain('1 server to renew soon');
    team.system.move(DAY_MS);
    await expect.poll(() => team.digests()[3]).toContain('2 servers to renew soon');
    expect(await team.listAudit()).toContain('otto reminder_snooze done');
  });

  test('can be ended by a manager, and turned on again; one notice follows when the paid time has ended, which says who let it expire', async ({
    expect,
  }) => {
    await using team = await startDigestTeam({}, { servers: 1 });
    team.untilDigest(24);
    await team.operator.sees('1 server to renew soon');
    await team.operator.presses('Let it expire');
    await team.operator.sees('You need the manager role');
    await team.manager.presses('Let it expire', { confirm: false });
    await team.manager.presses('Let it expire');
    await team.manager.sees('No more reminders for web-1');
    await expect.poll(() => team.digests()[0]).toContain('web-1 · @mara is letting it expire');
    await team.operator.presses('Remind again');
    await team.operator.sees('Reminders for web-1 are on again');
    await expect.poll(() => team.digests()[0]).toMatch(/web-1 · \d days left/);
    await team.manager.presses('Let it expire');
    await expect.poll(() => team.digests()[0]).toContain('@mara is letting it expire');
    // With nothing else to tell, the next days have no digest, and the command still knows of it.
    const passes = async (days: number) => {
      team.system.move(days * DAY_MS);
      await expect
        .poll(async () => (await recordOf(team)).lastAt)
        .toBeGreaterThan(team.system.now() - HOUR_MS);
    };
    await passes(1);
    expect(team.digests()).toHaveLength(1);
    const fresh = team.slack.as('mara').overlooksOldMessages();
    await fresh.types('/vps reminders');
    await fresh.sees('web-1 · @mara is letting it expire');
    // One notice when the paid time has ended.
    await passes(8);
    await expect
      .poll(() => team.digests()[1])
      .toMatch(/Paid time ended\s+• web-1 · .* · @mara let it expire/);
    await passes(1);
    expect(team.digests()).toHaveLength(2);
  });

  test('is for one paid month: a button on an old message doesn’t affect the next month', async () => {
    await using team = await startDigestTeam();
    const [id = 0] = team.hosting.seedServers(team.account, 1, 'web');
    team.untilDigest(24);
    await team.manager.sees('1 server to renew soon');
    team.renewOutside(id);
    // A list that was read a moment ago is good for two seconds.
    team.system.move(3000);
    await team.manager.presses('Let it expire');
    await team.manager.sees('web-1 was renewed while you were looking at this');
    expect(await team.app.ports.serverNotes.list('reminder', TEAM.id)).toEqual([]);
  });

  test('can be seen and changed only by users whose role covers the server', async () => {
    await using team = await startDigestTeam({}, { servers: 1 });
    team.hosting.seedServers(team.account, 1, 'db');
    team.untilDigest(24);
    await team.manager.sees('2 servers to renew soon');
    await grantRole(team, 'U0NOBODY01', 'manager', { pattern: 'db-*' });
    const limited = team.slack.as('nora').overlooksOldMessages();
    await limited.types('/vps reminders');
    await limited.sees('db-1 ·');
    limited.doesNotSee('web-1 ·');
    await team.slack.as('nora').presses('Renew all…');
    await limited.sees('One more month for 1 server is charged');
    limited.doesNotSee('web-1 ·');
  });
});

const digestOf = async ({ app }: Team) => (await app.ports.workspaces.find(TEAM.id))?.settings.digest;
const DAYS = 'Days before the paid time ends';

async function opening(options: TeamOptions = {}) {
  const team = await startTeam(options);
  await team.owner.types('/vps settings notifications');
  await team.owner.sees('Digest channel');
  return team;
}

describe.concurrent('the settings of the digest', () => {
  test('propose nine o’clock in the owner’s own time zone, and are off until a channel is chosen', async () => {
    await using team = await opening();
    await team.owner.sees('[Europe/Berlin]');
    await team.owner.sees('09:00');
    await team.owner.sees('7, 3, 1');
    await team.owner.fills({ 'Announce changes in the channel where they’re made': 'No' });
    await team.owner.presses('Save');
    await team.owner.sees('Settings saved');
    expect(await digestOf(team)).toBeUndefined();
    await team.owner.closes();
    await team.owner.types('/vps settings notifications');
    await team.owner.fills({ 'Digest channel': '#ops', Hour: '17:00', [DAYS]: '2 14' });
    await team.owner.presses('Save');
    await team.owner.sees('• Daily digest channel: #ops');
    await team.owner.sees('• Hour of the daily digest: 17');
    await team.owner.sees('• Time zone of the daily digest: Europe/Berlin');
    await team.owner.sees('@olga is setting up this channel for the daily digest.');
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
    await team.owner.sees('• Daily digest channel: none');
    expect(await digestOf(team)).toBeUndefined();
  });

  test('refuse time zones, days and channels that can’t be', async () => {
    await using team = await opening();
    await team.owner.fills({ 'Digest channel': '#ops', 'Time zone': 'Berlin', [DAYS]: 'a week' });
    await team.owner.presses('Save');
    await team.owner.sees('Enter a time zone such as Europe/Berlin');
    await team.owner.sees('Enter up to five numbers of days from 1 to 60');
    await team.owner.fills({ 'Digest channel': '#general', 'Time zone': 'asia/tokyo', [DAYS]: '5' });
    team.slack.admin.inviteOrganization('#general');
    await team.owner.presses('Save');
    await team.owner.sees('The channel is shared with another organization.');
    await team.owner.fills({ 'Digest channel': '#ops' });
    await team.owner.presses('Save');
    await team.owner.sees('• Time zone of the daily digest: Asia/Tokyo');
    expect(await digestOf(team)).toMatchObject({ zone: 'Asia/Tokyo', daysBefore: [5] });
  });
});

test.concurrent('Show my reminders on a digest of thirty servers pages through the buttons of all that the user’s role covers, with the same checks, and pays once', async () => {
  await using team = await startDigestTeam({}, { hasRateLimits: false });
  team.hosting.seedServers(team.account, 30, 'web');
  await team.owner.types('/vps access grant @nora viewer on web-1*');
  team.untilDigest(24);
  const { operator } = team;
  await operator.sees('30 servers to renew soon');
  await operator.presses('Show my reminders');
  await operator.sees('Showing 1–10 of 30, most urgent first.');
  for (const range of ['11–20 of 30', '21–30 of 30']) {
    await operator.presses('Next');
    await operator.sees(range);
  }
  const listOf = (user: typeof operator) =>
    user.messages().findLast(({ shown }) => shown.startsWith('Upcoming renewals'))?.shown ?? '';
  const labelsOf = (user: typeof operator) => listOf(user).match(/web-\d+(?= ·)/g) ?? [];
  expect(labelsOf(operator)).toHaveLength(10);
  // The last one of those that are shown.
  const last = labelsOf(operator).at(-1) ?? 'none';
  await operator.presses(/^Snooze until/);
  await operator.sees(`Reminders for ${last} are snoozed until`);
  await operator.sees(new RegExp(`${last} · snoozed by @otto until`));
  expect(listOf(operator)).toContain('21–30 of 30');
  await operator.presses('Remind again');
  await operator.sees(`Reminders for ${last} are on again`);
  await operator.presses('Let it expire');
  await operator.sees('You need the manager role');
  const audit = await team.listAudit();
  expect(audit).toContain('otto reminder_snooze done');
  expect(audit).toContain('otto reminder_end denied role_needed');

  await team.manager.presses('Show my reminders');
  await team.manager.presses('Next');
  await team.manager.sees('11–20 of 30');
  const labels = labelsOf(team.manager);
  await team.manager.presses('Let it expire');
  await team.manager.sees(`No more reminders for ${labels.at(-1)}`);
  await team.manager.presses('Renew and pay…');
  await team.manager.presses('Renew and pay');
  await team.manager.sees(`${labels.at(-2)} was renewed`);
  expect(team.hosting.charges(team.account)).toHaveLength(1);

  const viewer = team.slack.as('nora');
  await viewer.presses('Show my reminders');
  // Of web-1, and web-10 to web-19; the renewed one may be among them.
  await viewer.sees(/1[01] servers to renew soon/);
  await viewer.presses(/^Snooze until/);
  await viewer.sees('You need the operator role');
  expect(listOf(viewer)).not.toContain('web-2 ·');
});
