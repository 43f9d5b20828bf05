import { describe, expect, test } from 'vitest';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { until } from '../../support/eventually.ts';
import { rawUser } from '../../support/raw-user.ts';
import { startTeam, type Team } from '../../support/team.ts';

const GONE = 'The root password of web-1 is still stored. @mara, who created the server,';

/** The manager has created web-1, and no one has ever seen its root password. */
async function created(label = 'web-1') {
  const exempt = { passwordsWithCreators: 'an owner erases it before anybody has seen it' };
  const team = await startTeam({ exempt });
  team.slack.faults.breakReplyUrls();
  team.slack.faults.failMethod('chat.postEphemeral', 'channel_not_found');
  const manager = team.slack.as('mara').in('#ops');
  await manager.types(`/vps create plan=small location=ams image=debian-13 label=${label}`);
  await manager.sees('Create and pay');
  await manager.presses('Create and pay');
  await team.slack.as('mara').in('dm').sees('Show root password');
  // The channel's message is not edited any more after this.
  await manager.sees('Ready: ssh root@', 15_000);
  team.slack.faults.clear();
  const [server] = team.hosting.listServers(team.account);
  const password = team.hosting.passwordOf(server?.id ?? 0) ?? 'none was made';
  const owner = team.slack.as('olga').in('#ops');
  return Object.assign(team, { manager, owner, password });
}

const heldBy = async (team: Team) => (await team.app.ports.passwords.listHeld(TEAM.id)).length;
const erasuresOf = (team: Team) =>
  team.app.ports.audit.list({ workspaceId: TEAM.id, actions: ['password_discard'], limit: 100 });
const revoke = (team: Team) =>
  team.app.ports.grants.removeAll(TEAM.id, { subjectKind: 'user', subjectId: USERS.mara.id });

/** The last press of the button, as Slack delivered it. */
function pressed(team: Team) {
  const delivery = team.slack.deliveries().findLast(({ what }) => what.includes('password_discard'));
  if (!delivery) throw new Error('the button was not pressed');
  return delivery;
}

describe.concurrent('a root password whose creator is deactivated', () => {
  test('is offered to an owner, and erased after a confirmation, without being shown', async ({ expect }) => {
    await using team = await created();
    const { owner, password } = team;
    team.slack.admin.deactivate('mara');
    await owner.types('/vps password web-1');
    await owner.sees(`${GONE} is deactivated in Slack. You can’t see the password, but you can erase it.`);
    const asked = owner.confirmationOf('Erase root password');
    expect(asked).toContain('The root password of web-1 will be erased and can’t be recovered.');
    expect(asked).toContain('The hosting API can’t show it again.');
    await owner.presses('Erase root password', { confirm: false });
    expect(await heldBy(team)).toBe(1);
    await owner.presses('Erase root password');
    await owner.sees('The root password of web-1 was erased. It can’t be recovered.');
    owner.doesNotSee('is still stored');
    expect(await heldBy(team)).toBe(0);
    await owner.types('/vps audit web-1');
    await owner.sees(
      /@olga erased the root password of web-1 \(created by @mara\) in #ops: its creator was deactivated in Slack/,
    );
    await owner.sees(/@olga tried to view the root password of web-1 in #ops and was denied/);
    expect(JSON.stringify(team.slack.traffic())).not.toContain(password);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test('is found in /vps status, where only owners see whose it is', async () => {
    await using team = await created();
    team.slack.admin.deactivate('mara');
    // The status goes by what Slack said in the last five minutes.
    await team.restart();
    const viewer = team.slack.as('vera').in('#ops');
    await viewer.types('/vps status');
    await viewer.sees('Unsaved root passwords');
    viewer.doesNotSee('Root passwords that you can erase');
    await team.owner.types('/vps status');
    await team.owner.sees('web-1, created by @mara, who is deactivated in Slack');
    await team.owner.presses('Erase…');
    await team.owner.sees(GONE);
    await team.owner.presses('Erase root password');
    await team.owner.sees('was erased');
    expect(await heldBy(team)).toBe(0);
  });

  test('is not revealed to anyone else: they read the same as before, in the words that they typed', async ({
    expect,
  }) => {
    await using team = await created();
    team.slack.admin.deactivate('mara');
    const [held] = await team.app.ports.passwords.listHeld(TEAM.id);
    for (const name of ['otto', 'vera', 'nora', 'gus'] as const) {
      const by = rawUser(team, name);
      for (const typed of ['web-1', 'WEB', String(held?.serverId)]) {
        const before = by.mark();
        await by.command(`password ${typed}`);
        await by.seesChange(before);
        const words = `Only the person who created ${typed} can see or erase its root password.`;
        expect(by.ephemeralMessages().at(-1)).toBe(words);
      }
      const before = by.mark();
      await by.presses('password_discard', { operationId: held?.operationId });
      await by.seesChange(before);
      expect(by.ephemeralMessages().at(-1)).toContain('You need the owner role');
      expect(by.ephemeralMessages().at(-1)).not.toMatch(/web-1|mara/);
    }
    expect(await heldBy(team)).toBe(1);
    expect((await erasuresOf(team)).map(({ outcome, code }) => `${outcome} ${code}`)).toEqual(
      Array.from({ length: 4 }, () => 'denied role_needed'),
    );
  });

  test('stays when the creator is back before the owner presses', async ({ expect }) => {
    await using team = await created();
    const { owner, manager, password } = team;
    team.slack.admin.deactivate('mara');
    await owner.types('/vps password web-1');
    await owner.sees('is deactivated in Slack');
    team.slack.admin.changeUser('mara', { isDeactivated: false });
    team.slack.admin.channel('#ops').members.add(USERS.mara.id);
    await owner.presses('Erase root password');
    await owner.sees(
      'Only @mara, who created web-1 and has a role for it, can see or erase its root password',
    );
    expect(await heldBy(team)).toBe(1);
    await manager.types('/vps password web-1');
    await manager.sees(password);
  });

  test('is erased once, by twenty replays and two owners at the same moment', async ({ expect }) => {
    await using team = await created();
    const { owner } = team;
    await owner.types('/vps access grant @nora owner');
    await owner.sees('@nora is now an owner');
    team.slack.admin.deactivate('mara');
    const [held] = await team.app.ports.passwords.listHeld(TEAM.id);
    await owner.types('/vps password web-1');
    await owner.sees('Erase root password');
    const nora = rawUser(team, 'nora');
    await Promise.all([
      owner.presses('Erase root password'),
      nora.presses('password_discard', { operationId: held?.operationId }),
    ]);
    const delivery = pressed(team);
    await until(async () => (await erasuresOf(team)).length === 2);
    await Promise.all(Array.from({ length: 20 }, () => team.slack.redeliver(delivery)));
    await until(async () => (await erasuresOf(team)).length === 22);
    await team.restart();
    await team.slack.redeliver(delivery);
    await until(async () => (await erasuresOf(team)).length === 23);
    const outcomes = (await erasuresOf(team)).map(({ outcome, code }) => `${outcome} ${code}`);
    expect(outcomes.filter((outcome) => outcome === 'done creator_deactivated')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'failed no_password')).toHaveLength(22);
    expect(await team.app.ports.audit.verify(TEAM.id)).toMatchObject({ ok: true });
  });
});

describe.concurrent('a root password whose creator has no role any more', () => {
  test('can be erased by an owner, and seen by its creator until then', async ({ expect }) => {
    await using team = await created();
    const { owner, manager, password } = team;
    await owner.types('/vps password web-1');
    await owner.sees('Only the person who created web-1');
    owner.doesNotSee('Erase root password');
    await owner.types('/vps access revoke @mara');
    await owner.sees('own role was revoked');
    await owner.types('/vps password web-1');
    await owner.sees(`${GONE} has no role for it but can still see the password.`);
    await manager.closes();
    await manager.types('/vps password web-1');
    await manager.sees(password);
    await owner.presses('Erase root password');
    await owner.sees('The root password of web-1 was erased');
    await manager.types('/vps password web-1');
    await manager.sees('There’s no stored root password for web-1: it was saved or erased');
    expect(owner.screen()).not.toContain(password);
  });

  test('stays if the creator gets a role before the owner presses', async ({ expect }) => {
    await using team = await created();
    const { owner } = team;
    await revoke(team);
    await owner.types('/vps password web-1');
    await owner.sees('has no role for it');
    await owner.types('/vps access grant @mara viewer on web-*');
    await owner.sees('is now a viewer');
    await owner.presses('Erase root password');
    await owner.sees('Only @mara, who created web-1 and has a role for it');
    expect(await heldBy(team)).toBe(1);
  });

  test('can be erased from a direct message with the app', async ({ expect }) => {
    await using team = await created();
    await revoke(team);
    const owner = team.slack.as('olga').in('dm');
    await owner.types('password web-1');
    await owner.presses('Show password');
    await owner.sees(GONE);
    await owner.presses('Erase root password');
    await owner.sees('was erased');
    expect(await heldBy(team)).toBe(0);
    expect(team.slack.brokenRules()).toEqual([]);
  });
});

describe.concurrent('while Slack says nothing about the creator', () => {
  test('nothing is offered, and nothing is erased', async ({ expect }) => {
    await using team = await created();
    const { owner } = team;
    // An owner by a grant of their own, whom Slack need not confirm.
    await owner.types('/vps access grant @nora owner');
    await owner.sees('@nora is now an owner');
    await revoke(team);
    team.slack.admin.deactivate('mara');
    const nora = team.slack.as('nora').in('#ops');
    await nora.types('/vps password web-1');
    await nora.sees('is deactivated in Slack');
    team.slack.faults.failMethod('users.info', 'internal_error');
    await nora.presses('Erase root password');
    await nora.sees('Slack couldn’t confirm whether @mara still has permission, so nothing was done');
    await nora.types('/vps password web-1');
    await nora.sees('Slack couldn’t confirm whether @mara is still a member with a role for it.');
    expect(await heldBy(team)).toBe(1);
    team.slack.faults.clear();
    // A failed answer counts for half a minute, but not for what changes something.
    await nora.presses('Erase root password');
    await nora.sees('The root password of web-1 was erased');
  });
});

test('an unconfirmed order has no root password to erase, until it has settled', async () => {
  await using team = await startTeam();
  team.hosting.faults.add({ on: 'create', kind: 'lost_after' });
  const manager = team.slack.as('mara').in('#ops');
  await manager.types('/vps create plan=small location=ams image=debian-13 label=web-1');
  await manager.presses('Create and pay');
  await manager.sees('not sure yet whether web-1 was created');
  team.slack.admin.deactivate('mara');
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps password web-1');
  await owner.sees('There’s no stored root password for web-1');
  owner.doesNotSee('Erase root password');
  expect(await heldBy(team)).toBe(0);
});
