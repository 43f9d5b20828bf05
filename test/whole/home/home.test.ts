import { expect, it } from 'vitest';
import { DAY_MS } from '../../../src/core/time.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { createServer } from '../../support/acts.ts';
import { movableSystem } from '../../support/clocks.ts';
import { changesSeen } from '../../support/raw-user.ts';
import { startTeam, type Team } from '../../support/team.ts';

/** Everything that was ever published for any user. */
const published = ({ slack }: Team) =>
  slack
    .traffic()
    .filter(({ what }) => what === 'views.publish')
    .map(({ request }) => request);

it.concurrent('Home shows servers with the buttons that its user may press, and the outcome of each press', async ({
  expect,
}) => {
  await using team = await startTeam({ servers: 300 });
  const otto = team.slack.as('otto').in('dm');
  await otto.opensHome();
  await otto.sees('Welcome to vps');
  await otto.sees('Servers (300)');
  await otto.sees('Showing 1–12 of 300');
  otto.doesNotSee('Create a server');
  await otto.presses('Next');
  await otto.sees('Showing 13–24 of 300');
  otto.doesNotSee('Welcome to vps');
  await otto.presses('Previous');
  await otto.presses('Manage');
  await otto.presses('Reboot');
  await otto.sees('Last action: @otto rebooted it');
  await otto.closes();
  await otto.chooses('Find a server', 'web-250');
  await expect.poll(() => otto.modal()?.shown ?? '').toContain('web-250');
  await expect.poll(() => otto.modal()?.shown ?? '').toContain('ssh root@');
  await otto.presses('Stop');
  await expect.poll(() => otto.modal()?.shown ?? '').toContain('stopped');
  await otto.closes();
  const vera = team.slack.as('vera');
  await vera.opensHome();
  await vera.sees('Servers (300)');
  for (const button of ['Stop', 'Reboot', 'Renew…', 'Create a server…'])
    expect(JSON.stringify(vera.home()?.blocks)).not.toContain(`"${button}"`);
});

it.concurrent('Home doesn’t show how a press ended to a user whose role was revoked in the meantime', async () => {
  const system = movableSystem();
  await using team = await startTeam({ servers: 1, system, hosting: { rebootDelayMs: 4000 } });
  system.move(27 * DAY_MS);
  const otto = team.slack.as('otto').in('dm');
  await otto.opensHome();
  await otto.sees('1 server needs attention');
  await otto.presses('Reboot');
  await otto.sees('Rebooting web-1');
  await team.owner.types('/vps access revoke @otto');
  await team.owner.sees('role was revoked');
  await otto.sees('You need the viewer role to do this');
  expect(otto.screen()).not.toContain('running');
});

it.concurrent('Home begins with the setup for an owner, and with a way to ask for access for a user without a role', async () => {
  await using team = await startTeam({ isConnected: false });
  const olga = team.slack.as('olga').in('dm');
  await olga.opensHome();
  await olga.sees('Get started');
  await olga.presses('Connect…');
  await olga.sees('Enter your hosting API key on a secure page');
  const vera = team.slack.as('vera');
  await vera.opensHome();
  await vera.sees('Ask @olga to connect it');
  const nora = team.slack.as('nora').in('dm');
  await nora.opensHome();
  await nora.sees('You don’t have a role yet');
  for (const words of ['Spending', 'Servers', 'hosting account']) nora.doesNotSee(words);
  await nora.presses('Ask for access');
  await nora.fills({ 'Why do you need it?': 'on call' });
  await nora.submits();
  await nora.sees('You requested the viewer role');
  await olga.sees('nora is requesting the viewer role');
  await olga.presses('Approve for 8 h');
  await olga.sees('Approved');
  await nora.sees('Ask @olga to connect it');
});

it.concurrent('Home of a user from another organization is never published', async ({ expect }) => {
  await using team = await startTeam();
  const open = (user: string, tab = 'home', teamId: string = TEAM.id) => {
    const event = { type: 'app_home_opened', user, channel: 'D0X', tab, event_ts: '1.1' };
    const from = { event_id: 'Ev1', event_time: 1, team_id: teamId, context_team_id: TEAM.id };
    return team.slack.deliverBody('json', JSON.stringify({ type: 'event_callback', ...from, event }));
  };
  await open(USERS.sam.id);
  await open(USERS.sam.id, 'home', USERS.sam.teamId);
  await open(USERS.vera.id, 'messages');
  await open(USERS.otto.id);
  await expect.poll(() => team.slack.as('otto').home()).toBeDefined();
  expect(team.slack.as('sam').home()).toBeUndefined();
  expect(team.slack.as('vera').home()).toBeUndefined();
});

it.concurrent('a root password is shown from Home to its creator only, and is never part of Home', async ({
  expect,
}) => {
  await using team = await startTeam();
  const mara = team.slack.as('mara');
  await createServer(mara);
  const inDm = team.slack.as('mara').in('dm');
  await inDm.opensHome();
  await inDm.sees('The root password of web-1 isn’t saved yet');
  await inDm.presses('Show password');
  await inDm.sees('in the Messages tab, visible only to you');
  await inDm.sees(/I[’']ve saved it/);
  expect(JSON.stringify(inDm.home()?.blocks)).not.toContain('rich_text');
  const olga = team.slack.as('olga');
  await olga.opensHome();
  await olga.sees('Servers (1)');
  olga.doesNotSee('root password');
  // What their own action changes is shown soon, without opening Home again.
  await inDm.presses(/I[’']ve saved it/);
  await expect.poll(() => inDm.home()?.shown ?? '').not.toContain('root password of');
});

it.concurrent('Home shows what is known while the hosting API is slow or fails, and says what is missing', async () => {
  await using team = await startTeam({ servers: 2 });
  team.hosting.faults.add({ on: 'servers', kind: 'status_500', times: 1000 });
  const otto = team.slack.as('otto').in('dm');
  await otto.opensHome();
  await otto.sees('Your servers can’t be shown right now');
  await otto.sees('Paid from Slack');
  team.hosting.faults.clear();
  await otto.presses('Try again');
  await otto.sees('Servers (2)');
  team.hosting.faults.add({ on: 'servers', kind: 'status_500', times: 1000 });
  await otto.presses('Refresh');
  await otto.sees('Showing servers as of');
  expect(otto.home()?.shown).toContain('web-1');
});

it.concurrent('Home shows servers that were added elsewhere a moment before it is opened, with one read of the list', async () => {
  await using team = await startTeam();
  const vera = team.slack.as('vera');
  await vera.types('/vps list');
  await vera.sees('no servers in the hosting account yet');
  team.hosting.seedServers(team.account, 2, 'web');
  const before = team.hosting.requests({ operation: 'servers' }).length;
  await vera.opensHome();
  await vera.sees('Servers (2)');
  expect(published(team).join()).not.toMatch(/No servers|0 servers/);
  expect(team.hosting.requests({ operation: 'servers' }).length - before).toBe(1);
  // Also where Home itself has shown another number.
  team.hosting.seedServers(team.account, 1, 'db');
  await vera.opensHome();
  await vera.sees('Servers (3)');
});

it.concurrent('Home opened while the hosting API is slow says how old its list is, and is updated by the same read', async () => {
  await using team = await startTeam({ settings: { HOSTING_TIMEOUT_MS: '20000' } });
  const vera = team.slack.as('vera').in('dm');
  await vera.opensHome();
  await vera.sees('no servers in the hosting account yet');
  team.hosting.seedServers(team.account, 2, 'web');
  team.hosting.faults.add({ on: 'servers', kind: 'slow', delayMs: 4000 });
  const before = team.hosting.requests({ operation: 'servers' }).length;
  await vera.opensHome();
  await vera.sees('No servers as of');
  for (const words of ['No servers to show', '0 servers', 'no servers in the hosting account'])
    vera.doesNotSee(words);
  await vera.sees('Servers (2)');
  vera.doesNotSee('Loading…');
  expect(team.hosting.requests({ operation: 'servers' }).length - before).toBe(1);
});

it.concurrent('a create from Home asks where to post its result: in a channel that its user is in, or directly', async ({
  expect,
}) => {
  await using team = await startTeam();
  const mara = team.slack.as('mara').in('dm');
  await mara.opensHome();
  await mara.presses('Create a server…');
  const order = { Plan: 'micro', Location: 'ams', Image: 'debian-13', Label: 'web-1' };
  await mara.fills({ ...order, 'Channel for the result': '#ops' });
  const { members } = team.slack.channel('#ops') ?? {};
  // A menu offers public channels to everybody, and roles may be for a channel's members.
  members?.delete(mara.id);
  await mara.submits();
  await mara.sees('Slack didn’t confirm that you’re in this channel');
  members?.add(mara.id);
  await mara.submits();
  await mara.presses('Create and pay');
  const vera = team.slack.as('vera');
  await vera.sees('mara created web-1');
  await mara.in('#ops').sees(/I[’']ve saved it/);
  vera.doesNotSee('Root password');
  await expect.poll(() => mara.home()?.shown ?? '').toContain('Servers (1)');
});

it.concurrent('a press on Home counts as that of the user whom Slack names, changes their own Home alone, and clears it once their role is lost', async ({
  expect,
}) => {
  const system = movableSystem();
  await using team = await startTeam({ servers: 1, system });
  // Its paid time ends soon, so that Home has its power buttons.
  system.move(27 * DAY_MS);
  const otto = team.slack.as('otto').in('dm');
  await otto.opensHome();
  await otto.sees('Servers (1)');
  await otto.presses('Reboot');
  await otto.sees(/Rebooting|was rebooted/);
  const press = team.slack.lastDelivery('reboot');
  for (const { id, name, teamId } of [USERS.vera, USERS.nora, USERS.sam]) {
    const user = { id, username: name, name, team_id: teamId };
    await team.slack.deliverAltered(press, (payload) => ({ ...payload, user }));
  }
  const denials = async () =>
    (await team.app.ports.audit.list({ workspaceId: TEAM.id, limit: 20 }))
      .filter(({ outcome }) => outcome === 'denied')
      .map(({ actorId, code }) => `${actorId} ${code}`);
  await expect
    .poll(denials)
    .toEqual(
      expect.arrayContaining([
        `${USERS.vera.id} role_needed`,
        `${USERS.nora.id} role_needed`,
        `${USERS.sam.id} other_organization`,
      ]),
    );
  expect(changesSeen(team)).toHaveLength(1);
  await expect.poll(() => JSON.stringify(team.slack.as('nora').home() ?? '')).toContain('role');
  expect(JSON.stringify(team.slack.as('nora').home())).not.toContain('web-1');
  expect(team.slack.as('sam').home()).toBeUndefined();
  otto.doesNotSee('You need the operator role');
  expect(await team.app.ports.homes.find(TEAM.id, USERS.sam.id)).toBeUndefined();
  const { grants } = team.app.ports;
  await grants.remove(TEAM.id, { subjectKind: 'user', subjectId: USERS.otto.id });
  await otto.presses('Reboot');
  await otto.sees('You need the operator role');
  await otto.sees('You don’t have a role yet');
  expect(JSON.stringify(otto.home()?.blocks)).not.toContain('10.');
  expect(changesSeen(team)).toHaveLength(1);
});
