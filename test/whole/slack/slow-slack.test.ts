import { describe, expect, it, test } from 'vitest';
import { MINUTE_MS } from '../../../src/core/time.ts';
import { APP, OTHER_TEAM, TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { askForRole, fillDelete, orderOf } from '../../support/acts.ts';
import { movableSystem } from '../../support/clocks.ts';
import { changesSeen } from '../../support/raw-user.ts';
import { grantRole, MODES, startTeam } from '../../support/team.ts';

describe.concurrent.each(MODES)('an app whose clock is off, in Slack’s mode %s', (mode) => {
  function startOff(byMs: number) {
    const system = movableSystem();
    system.stepWall(byMs);
    return startTeam({ servers: 2, mode, system });
  }
  const readiness = async ({ appUrl }: { readonly appUrl: string }) => {
    const answer = await fetch(`${appUrl}/readyz`);
    return `${answer.status} ${await answer.text()}`;
  };

  it.each([
    [4, '4 min ahead of Slack’s'],
    [-4, '4 min behind Slack’s'],
  ])('by %i minutes carries out messages that were just written, refuses one that Slack delivers late, and reports its clock in /readyz', async (minutes, words) => {
    await using team = await startOff(minutes * MINUTE_MS);
    const otto = team.slack.as('otto');
    await otto.in('dm').types('stop web-1');
    await otto.in('dm').sees('web-1 was stopped');
    await otto.in('#ops').types('@vps stop web-2');
    await otto.in('#ops').inThreadOf('stop web-2').sees('stopped web-2');
    await team.slack.sendEvent({
      ...{ type: 'app_mention', user: USERS.otto.id, channel: 'C0OPS00001', user_team: 'T0SANDBOX' },
      ...{ text: `<@${APP.botUserId}> start web-1`, ts: `${Math.floor(Date.now() / 1000) - 400}.000100` },
    });
    await otto.in('#ops').sees('delivered your message 7 min late, so nothing was done');
    expect(changesSeen(team)).toHaveLength(2);
    expect(await readiness(team)).toContain(`200 ok\nthe app’s clock is ${words}`);
  });

  it('by half a minute doesn’t report its clock in /readyz', async () => {
    await using team = await startOff(MINUTE_MS / 2);
    const otto = team.slack.as('otto').in('dm');
    await otto.types('list');
    await otto.sees('2 servers');
    expect(await readiness(team)).toBe('200 ok\n');
  });
});

test.concurrent('a modal whose ack Slack applies late shows the outcome of a delete, an order and a change of settings, and not that it is still running', async ({
  expect,
}) => {
  await using team = await startTeam({ servers: 1 });
  // Slack takes a second to apply what an ack says, while it takes an update of the same view at once.
  team.slack.faults.lateAcksMs = 900;
  const { manager } = team;
  await fillDelete(manager);
  await manager.presses('Delete');
  await expect.poll(() => manager.modal()?.shown).toContain('was deleted');
  await manager.closes();
  await manager.types(orderOf('web-9'));
  await manager.presses('Create and pay');
  await expect.poll(() => manager.modal()?.shown).toContain('We sent you the root password');
  await team.owner.types('/vps settings approvals');
  await team.owner.fills({ 'Renewing servers': 'On' });
  await team.owner.presses('Save');
  await expect.poll(() => team.owner.modal()?.shown).not.toContain('[Save]');
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(team.owner.modal()?.shown).not.toMatch(/hosting API…|Saving/);
});

describe.concurrent('while Slack limits the app', () => {
  it('a request for access reaches the owners once Slack accepts messages again', async () => {
    await using team = await startTeam();
    team.slack.faults.rateLimit('chat.postMessage', { times: 1, retryAfterSeconds: 1 });
    const newcomer = team.slack.as('nora');
    await askForRole(newcomer, 'viewer', 'the release');
    await team.slack.as('olga').in('dm').sees('the release');
    expect(team.slack.brokenRules()).toEqual([]);
  });

  it('a channel still gets every outcome of actions in the same second', async () => {
    await using team = await startTeam({ servers: 3 });
    const names = ['web-1', 'web-2', 'web-3'];
    await Promise.all(names.map((name) => team.operator.types(`/vps reboot ${name}`)));
    for (const name of names) await team.viewer.sees(`rebooted ${name}: 🟢 running`);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  it('an admin of the workspace stays an owner', async () => {
    const system = movableSystem();
    await using team = await startTeam({ system, settings: { OWNERS: '' } });
    await team.owner.types('/vps settings notifications');
    await team.owner.closes();
    system.move(6 * 60_000);
    team.slack.faults.rateLimit('users.info', { times: 5, retryAfterSeconds: 60 });
    await team.owner.types('/vps settings notifications');
    await team.owner.sees('Digest channel');
  });
});

const WITHOUT_USERS = ['commands', 'chat:write', 'usergroups:read', 'channels:read', 'groups:read'];

describe.concurrent('without the scope users:read', () => {
  it('a role for a channel or a user group is refused with the scope named', async () => {
    await using team = await startTeam({ scopes: WITHOUT_USERS });
    for (const subject of ['#ops', '<!subteam^S0ONCALL01|@oncall>']) {
      team.owner.overlooksOldMessages();
      await team.owner.types(`/vps access grant ${subject} viewer`);
      await team.owner.sees('missing scope users:read');
    }
    const grants = await team.app.ports.grants.list(TEAM.id);
    expect(grants.filter(({ subjectKind }) => subjectKind !== 'user')).toEqual([]);
  });

  it('a member of the Enterprise Grid who presses a button reads which scope is missing', async () => {
    await using team = await startTeam({ servers: 1, scopes: WITHOUT_USERS });
    team.slack.admin.joinGrid();
    const user = team.slack.admin.addUser({ id: 'W0GRETA001', name: 'greta', teamId: OTHER_TEAM.id });
    await grantRole(team, user.id, 'operator');
    const colleague = team.slack.as(user);
    await colleague.types('/vps show web-1');
    await colleague.presses('Reboot');
    await colleague.sees('missing scope users:read');
  });
});
