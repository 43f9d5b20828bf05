import { describe, expect, test } from 'vitest';
import { startTeam, type Team, type TeamOptions } from '../../support/team.ts';

/** The manager has created web-1 and has its password before them. */
async function created(options: TeamOptions = {}, prepare: (team: Team) => void = () => {}) {
  const team = await startTeam(options);
  const manager = team.slack.as('mara').in('#ops');
  await manager.types('/vps create plan=small location=ams image=debian-13 label=web-1');
  await manager.sees('Create and pay');
  prepare(team);
  await manager.presses('Create and pay');
  await manager.sees(/(was|is being) created \(|in a direct message/);
  const password =
    team.hosting.passwordOf(team.hosting.listServers(team.account)[0]?.id ?? 0) ?? 'none was made';
  return Object.assign(team, { manager, password });
}

const notificationsOf = ({ manager }: Awaited<ReturnType<typeof created>>) =>
  manager
    .messages()
    .map(({ text }) => text)
    .join();

const heldBy = (team: Team) => team.app.ports.passwords.listHeld('T0SANDBOX');

describe.concurrent('the root password', () => {
  test('is shown to its creator alone, and never in the notification text', async ({ expect }) => {
    await using team = await created();
    await team.manager.sees(team.password);
    for (const name of ['olga', 'otto', 'vera'] as const) {
      team.slack.as(name).in('#ops').doesNotSee(team.password);
    }
    expect(notificationsOf(team)).not.toContain(team.password);
  });

  test('is shown again until it is saved, and then erased with its message', async ({ expect }) => {
    await using team = await created();
    await team.manager.closes();
    await team.manager.sees('Ready: ssh root@');
    team.manager.reloads();
    team.manager.doesNotSee(team.password);
    await team.manager.types('/vps password web');
    await team.manager.sees(team.password);
    expect(notificationsOf(team)).not.toContain(team.password);
    expect(team.manager.confirmationOf("I've saved it")).toContain(
      'This erases our only copy of web-1’s root password.',
    );
    await team.manager.presses("I've saved it", { confirm: false });
    team.manager.doesNotSee('password erased');
    await team.manager.presses("I've saved it");
    await team.manager.sees(/web-1 · [\d.]+ · password erased/);
    expect(team.manager.screen()).not.toContain(team.password);
    expect(await heldBy(team)).toEqual([]);
    await team.manager.types('/vps password web-1');
    await team.manager.sees('no stored root password');
  });

  test('is refused to everybody else, owners included', async () => {
    await using team = await created();
    const owner = team.slack.as('olga').in('#ops');
    await owner.types('/vps password web-1');
    await owner.sees('Only the person who created');
    owner.doesNotSee(team.password);
    await owner.types('/vps audit');
    await owner.sees(/tried to view the root password of .* and was denied: not the creator/);
  });

  test('of a creator who has left stays sealed, for owners too, until the server is deleted', async ({
    expect,
  }) => {
    await using team = await created();
    team.slack.admin.deactivate('mara');
    const owner = team.slack.as('olga').in('#ops');
    await owner.types('/vps password web-1');
    await owner.sees('Only the person who created web-1 can see or erase its root password.');
    owner.doesNotSee(team.password);
    expect(await heldBy(team)).toHaveLength(1);
    await owner.types('/vps delete web-1');
    await owner.fills({ 'To confirm, type web-1': 'web-1' });
    await owner.presses('Delete');
    await expect.poll(() => heldBy(team)).toEqual([]);
  });

  test('is shown to its creator even if they no longer have a role', async () => {
    await using team = await created();
    await team.manager.closes();
    team.manager.reloads();
    await team.app.ports.grants.removeAll('T0SANDBOX', { subjectKind: 'user', subjectId: 'U0MANAGER1' });
    await team.manager.types('/vps password web-1');
    await team.manager.sees(team.password);
  });

  test('is shown while the hosting API is down', async () => {
    await using team = await created();
    await team.hosting.close();
    await team.manager.closes();
    team.manager.reloads();
    await team.manager.types('/vps password web-1');
    await team.manager.sees(team.password);
  });

  test('survives a restart, still sealed', async () => {
    await using team = await created();
    await team.manager.closes();
    team.manager.reloads();
    await team.restart();
    await team.manager.types('/vps password web-1');
    await team.manager.sees(team.password);
  });

  test('is kept after its delivery, and for at least 50 s after /vps password even without a hold time', async ({
    expect,
  }) => {
    await using team = await created({ settings: { PASSWORD_HOLD_MINUTES: '0' } });
    await team.manager.sees(team.password);
    const [delivered] = await heldBy(team);
    expect(delivered).toMatchObject({ label: 'web-1' });
    expect(delivered).not.toHaveProperty('heldUntil');
    await team.manager.types('/vps password web-1');
    await expect.poll(async () => (await heldBy(team))[0]?.heldUntil).toBeGreaterThan(Date.now() + 50_000);
  });

  test('is sent as an ephemeral message of the bot if response_url fails', async () => {
    await using team = await created({}, ({ slack }) => slack.faults.breakReplyUrls());
    await team.manager.sees(team.password);
  });

  test('is never sent as a direct message: if it can’t be shown, it is held for its creator', async ({
    expect,
  }) => {
    const broken = ({ slack }: Team) => {
      slack.faults.breakReplyUrls();
      slack.faults.failMethod('chat.postEphemeral', 'channel_not_found');
    };
    await using team = await created({}, broken);
    await team.manager.sees('/vps password');
    const dm = team.slack.as('mara').in('dm');
    await dm.sees(/(was|is being) created \(/);
    dm.doesNotSee(team.password);
    expect(await heldBy(team)).toMatchObject([{ label: 'web-1' }]);
    team.slack.faults.clear();
    await dm.closes();
    await dm.presses('Show root password');
    await dm.sees(team.password);
  });

  test('is delivered later if Slack refused every message at first', async () => {
    const down = ({ slack }: Team) => {
      slack.faults.breakReplyUrls(500, 1);
      slack.faults.failMethod('chat.postEphemeral', 'internal_error', 1);
      // The announcement, and the direct message.
      slack.faults.failMethod('chat.postMessage', 'internal_error', 2);
    };
    await using team = await created({}, down);
    await team.manager.sees("I've saved it");
    await team.manager.sees(team.password);
  });
});

test('a root password is shown in a direct message with the app, where a bot can’t post ephemeral messages', async () => {
  await using team = await startTeam();
  const manager = team.slack.as('mara').in('dm');
  await manager.types('/vps create plan=small location=ams image=debian-13 label=web-1');
  await manager.presses('Create and pay');
  await manager.sees("I've saved it");
  expect(team.slack.brokenRules()).toEqual([]);
});

test('a root password is masked in the traffic that the sandbox shows to everybody, however it was sent', async () => {
  await using team = await startTeam();
  const manager = team.slack.as('mara').in('#ops');
  for (const label of ['web-1', 'web-2']) {
    await manager.types(`/vps create plan=small location=ams image=debian-13 label=${label}`);
    await manager.presses('Create and pay');
    await manager.sees("I've saved it");
    await manager.closes();
    manager.overlooksOldMessages();
    // The second one comes by chat.postEphemeral, form-encoded.
    team.slack.faults.breakReplyUrls();
  }
  const traffic = JSON.stringify(team.slack.traffic());
  expect(traffic).toContain('chat.postEphemeral');
  for (const { id } of team.hosting.listServers(team.account)) {
    const password = JSON.stringify(team.hosting.passwordOf(id)).slice(1, -1);
    expect(traffic).not.toContain(password);
    expect(traffic).not.toContain(JSON.stringify(password).slice(1, -1));
    expect(traffic).not.toContain(encodeURIComponent(password));
  }
});
