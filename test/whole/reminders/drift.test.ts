import { describe, test } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { DAY_MS } from '../../../src/core/time.ts';
import { realSystem } from '../../../src/system.ts';
import { startDigestTeam } from '../../support/digest-team.ts';

const PATIENT = { timeout: 60_000 };

describe.concurrent('changes outside of the app', () => {
  test('are listed once, in the next digest, without those that were made with the app', async ({
    expect,
  }) => {
    await using team = await startDigestTeam();
    const { hosting, account } = team;
    const [one = 0, two = 0] = hosting.seedServers(account, 6, 'web');
    team.untilDigest();
    await expect.poll(() => team.app.ports.digests.findSnapshot('T0SANDBOX'), PATIENT).toBeDefined();
    // Outside: one is deleted, one is stopped, one is new. With the app: the same three.
    hosting.servers.remove(account, String(one));
    hosting.servers.power(account, String(two), 'stop');
    hosting.seedServers(account, 1, 'surprise');
    await team.manager.types('/vps stop web-3');
    await team.manager.sees('web-3');
    await team.manager.types('/vps delete web-4');
    await team.manager.fills({ 'To confirm, type web-4': 'web-4' });
    await team.manager.presses('Delete');
    await team.manager.sees('web-4 was deleted');
    await team.manager.types('/vps create plan=small location=ams image=debian-13 label=ours');
    await team.manager.presses('Create and pay');
    await team.manager.sees('ours is being created');
    // Slack takes about one message a second in a channel; a digest that it refuses is posted ten minutes later.
    await realSystem.sleep(3000);
    team.system.move(DAY_MS);
    await expect
      .poll(() => team.digests()[0], PATIENT)
      .toContain('Changed outside this workspace since the last digest');
    const [digest = ''] = team.digests();
    expect(digest).toContain('New: surprise-1');
    expect(digest).toContain('No longer in the hosting account: web-1');
    expect(digest).toMatch(/web-2: 🟢 running → .* stopped/);
    for (const own of ['web-3', 'web-4', 'ours']) expect(digest).not.toContain(own);
    team.system.move(DAY_MS);
    await expect
      .poll(() => team.app.ports.digests.findLastAt('T0SANDBOX'), PATIENT)
      .toBeGreaterThan(team.system.now() - DAY_MS / 2);
    expect(team.digests()).toHaveLength(1);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test('are not reported when another hosting account was connected', async ({ expect }) => {
    await using team = await startDigestTeam();
    const { hosting } = team;
    hosting.seedServers(team.account, 3, 'web');
    team.untilDigest();
    await expect.poll(() => team.app.ports.digests.findSnapshot('T0SANDBOX'), PATIENT).toBeDefined();
    const before = (await team.app.ports.digests.findSnapshot('T0SANDBOX'))?.account;
    const other = hosting.accounts.create({ name: 'Other', balanceMinor: 1000 });
    hosting.seedServers(other, 2, 'other');
    const key = new Secret(hosting.createKey(other));
    await team.app.ports.apiKeys.put('T0SANDBOX', key, 'U0OWNER001', 0);
    team.system.move(DAY_MS);
    await expect
      .poll(async () => (await team.app.ports.digests.findSnapshot('T0SANDBOX'))?.account, PATIENT)
      .not.toBe(before);
    expect(team.digests()).toEqual([]);
  });
});

describe.concurrent('a digest that can’t be posted', () => {
  test('because its channel is shared with another organization is reported to owners once, and posted when it can be', async ({
    expect,
  }) => {
    await using team = await startDigestTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    await team.setSettings({
      ...(await settingsOf(team)),
      digest: { channelId: 'C0SHARED01', hour: 9, zone: 'UTC', daysBefore: [7] },
    });
    team.untilDigest(24);
    await team.owner.sees('The daily digest couldn’t be posted in #acme-shared');
    await team.owner.sees('The channel is shared with another organization.');
    team.slack.as('sam').in('#acme-shared').doesNotSee('web-1');
    await team.setSettings({
      ...(await settingsOf(team)),
      digest: { channelId: 'C0OPS00001', hour: 9, zone: 'UTC', daysBefore: [7] },
    });
    team.system.move(11 * 60_000);
    await team.manager.sees('Daily digest');
    expect(team.owner.messages().filter(({ shown }) => shown.includes('couldn’t be posted'))).toHaveLength(1);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test('because the hosting API doesn’t answer is posted once it does; otherwise the channel gets the reason', async ({
    expect,
  }) => {
    await using team = await startDigestTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    team.hosting.faults.add({ on: 'servers', kind: 'status_500', times: 1000 });
    team.untilDigest(24);
    await expect.poll(() => team.listReads(), PATIENT).toBeGreaterThan(0);
    expect(team.digests()).toEqual([]);
    team.system.move(61 * 60_000);
    await team.manager.sees('There’s no digest today, because the servers couldn’t be read.');
    team.hosting.faults.clear();
    team.system.move(DAY_MS);
    await team.manager.sees('Daily digest');
  });

  test('because its message was deleted is not posted again, and the next day’s is', async ({ expect }) => {
    await using team = await startDigestTeam();
    team.hosting.seedServers(team.account, 2, 'web');
    team.untilDigest(24);
    await team.manager.sees('2 servers to renew soon');
    // The message is there a moment before the note that it is.
    await expect.poll(() => team.app.ports.digests.findLive('T0SANDBOX'), PATIENT).toBeDefined();
    const live = await team.app.ports.digests.findLive('T0SANDBOX');
    team.slack.admin.deleteMessage('#ops', live?.card.ts ?? '');
    await team.manager.types('/vps renew web-1');
    await team.manager.presses('Renew and pay');
    await team.manager.sees('web-1 was renewed');
    await expect.poll(() => team.app.ports.digests.findLive('T0SANDBOX'), PATIENT).toBeUndefined();
    expect(team.digests()).toEqual([]);
    team.system.move(DAY_MS);
    await expect.poll(() => team.digests()[0], PATIENT).toContain('1 server to renew soon');
  });
});

async function settingsOf({ app }: Awaited<ReturnType<typeof startDigestTeam>>) {
  const workspace = await app.ports.workspaces.find('T0SANDBOX');
  if (!workspace) throw new Error('the workspace is not stored');
  return workspace.settings;
}
