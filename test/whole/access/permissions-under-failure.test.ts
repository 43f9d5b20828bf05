import { describe, expect, it } from 'vitest';
import { OTHER_TEAM, TEAM, USERS, type UserName } from '../../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../../src/system.ts';
import { createServer, orderOf } from '../../support/acts.ts';
import { until } from '../../support/eventually.ts';
import { changesSeen, envelope, rawUser } from '../../support/raw-user.ts';
import { grantRole, startTeam, type Team } from '../../support/team.ts';

async function revoke(team: Team, who: UserName): Promise<void> {
  const owner = team.slack.as('olga').in('#general');
  await owner.types(`/vps access revoke @${who}`);
  await owner.sees(`@${who}’s role was revoked`);
}

describe.concurrent('a revoked role', () => {
  it('stops open reviews, forms, dialogs, pickers and buttons from doing anything', async () => {
    await using team = await startTeam({ servers: 2 });
    await team.operator.types('/vps reboot web');
    await team.operator.sees('2 servers match');
    await revoke(team, 'otto');
    await team.operator.chooses('Choose a server', 'web-2');
    await team.operator.sees('You need the operator role');
    const buyer = team.slack.as('nora');
    await grantRole(team, buyer.id, 'manager');
    await buyer.types(orderOf('late'));
    await buyer.sees('5.90');
    await revoke(team, 'nora');
    await buyer.presses('Create and pay');
    await buyer.sees('You need the manager role');
    expect(team.hosting.charges(team.account)).toEqual([]);
    const { manager } = team;
    await manager.types('/vps show web-1');
    await manager.sees('web-1');
    await manager.presses('Delete…');
    await manager.fills({ 'To confirm, type web-1': 'web-1' });
    await revoke(team, 'mara');
    await manager.presses('Delete');
    await manager.sees('You need the manager role');
    await manager.closes();
    for (const button of ['Stop', 'Reboot', 'Renew…', 'Delete…']) {
      const fresh = team.slack.as('mara');
      const before = fresh.messages().length;
      await fresh.presses(button);
      await until(() => fresh.messages().length > before);
      expect(fresh.messages().at(-1)?.shown).toContain('You don’t have a role yet');
      expect(fresh.modal()).toBeUndefined();
    }
    expect(changesSeen(team)).toEqual([]);
    const denied = await rawUser(team, 'mara').audit();
    expect(denied.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual(
      ['delete', 'renew', 'reboot', 'stop', 'delete'].map((action) => `${action} denied`),
    );
  });

  it('stops a payment that a restart left unsent', async () => {
    await using team = await startTeam();
    const { ledger } = team.app.ports;
    await ledger.prepare({
      id: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
      workspaceId: TEAM.id,
      actorId: USERS.otto.id,
      channelId: 'C0OPS00001',
      purchase: {
        kind: 'create',
        order: { plan: 'small', location: 'ams', image: 'debian-13', label: 'sly' },
      },
      at: realSystem.now(),
    });
    await team.operator.sees('You need the manager role');
    expect(changesSeen(team)).toEqual([]);
  });
});

it.concurrent('a button that another user was shown does nothing for users from other organizations, however Slack marks them', async () => {
  await using team = await startTeam({ servers: 1 });
  const by = rawUser(team, 'sam');
  const actions = [{ action_id: 'reboot', value: JSON.stringify({ id: team.serverIds[0] }) }];
  const elsewhere = { id: OTHER_TEAM.id };
  const home = { id: by.id, team_id: OTHER_TEAM.id };
  for (const fields of [
    { team: { id: TEAM.id }, user: home },
    { team: elsewhere, user: home },
    { team: null, user: home },
    { team: elsewhere, user: { id: by.id } },
    { team: elsewhere, user: { id: USERS.olga.id, team_id: TEAM.id } },
    { team: elsewhere, user: { id: USERS.olga.id } },
    { team: null, user: { id: USERS.olga.id } },
    { team: { id: TEAM.id }, user: { id: by.id } },
  ]) {
    const before = by.mark();
    await by.interacts('block_actions', { ...fields, actions });
    await by.seesChange(before);
    expect(by.ephemeralMessages().at(-1)).toMatch(/another organization|isn’t set up|You need the/);
  }
  expect(team.hosting.requests()).toEqual([]);
});

describe.concurrent('a root password', () => {
  it('is shown to nobody but its creator, and erased by nobody else: owners can’t', async () => {
    await using team = await startTeam();
    await createServer(team.manager);
    const [id = 0] = team.hosting.listServers(team.account).map((server) => server.id);
    const password = team.hosting.passwordOf(id) ?? '';
    const created = await team.app.ports.ledger.findCreated(TEAM.id, id);
    const operationId = created?.operationId ?? '';
    for (const name of ['olga', 'nora', 'gus'] as const) {
      const by = rawUser(team, name);
      for (const attempt of [
        () => by.command('password web-1'),
        () => by.command(`password ${id}`),
        () => by.presses('password', { typed: 'web-1' }),
        () => by.chooses('pick_password', String(id)),
        () => by.presses('password_saved', { operationId }),
      ]) {
        const before = by.mark();
        await attempt();
        await by.seesChange(before);
        expect(by.ephemeralMessages().at(-1)).toMatch(/^Only the person who created/);
      }
      const outcomes = (await by.audit()).map(({ outcome, code }) => `${outcome} ${code ?? ''}`);
      expect(outcomes.filter((outcome) => outcome === 'denied not_creator')).toHaveLength(5);
      expect(by.mark()).not.toContain(password);
    }
    const stranger = rawUser(team, 'sam');
    const before = stranger.mark();
    await stranger.presses('password_saved', { operationId });
    await stranger.seesChange(before);
    expect(await team.app.ports.passwords.find(operationId)).toBeDefined();
  });

  it('reveals no server’s name to users without a role who ask for one', async () => {
    await using team = await startTeam();
    await createServer(team.manager, 'secret-project-1');
    await createServer(team.manager, 'secret-project-2');
    const nora = team.slack.as('nora').in('#random');
    for (const typed of ['s', 'secret-project-1']) {
      const before = nora.messages().length;
      await nora.types(`/vps password ${typed}`);
      await until(() => nora.messages().length > before);
    }
    // Not the beginning of a label either: letter by letter, it would spell it.
    expect(nora.screen()).toContain('There’s no stored root password for s:');
    expect(nora.screen()).not.toContain('project-2');
    expect(await rawUser(team, 'nora').audit()).toMatchObject([
      { outcome: 'denied', code: 'not_creator' },
      { outcome: 'started' },
      { code: 'no_password' },
      { outcome: 'started' },
    ]);
  });
});

describe.concurrent('when Slack does not say who a user is', () => {
  it('removes only the roles that admins have without a grant if users:read is missing', async () => {
    const scopes = ['commands', 'chat:write'];
    await using team = await startTeam({ servers: 1, scopes, settings: { OWNERS: USERS.nora.id } });
    const admin = team.slack.as('olga');
    await admin.types('/vps audit');
    await admin.sees('You don’t have a role yet');
    await team.viewer.types('/vps list');
    await team.viewer.sees('web-1');
    const named = team.slack.as('nora');
    await named.types('/vps audit');
    await named.sees('and was denied: no permission');
  });

  it('does not tell members of a group that they lack the role, or offer them to request it', async () => {
    await using team = await startTeam({ servers: 2 });
    await team.owner.types('/vps access grant @oncall operator');
    await team.owner.sees('are now operators');
    for (const method of ['users.info', 'usergroups.list', 'usergroups.users.list'])
      team.slack.faults.failMethod(method, 'internal_error');
    await team.restart();
    const nora = team.slack.as('nora');
    await nora.types('/vps reboot web-1');
    await nora.sees('Slack couldn’t confirm who you are, so nothing was done');
    nora.doesNotSee('Ask for access');
    nora.doesNotSee('no role');
    expect(changesSeen(team)).toEqual([]);
    expect(await rawUser(team, 'nora').audit()).toMatchObject([
      { outcome: 'denied', code: 'identity_unknown' },
    ]);
  });
});

// Timed, so nothing runs beside them.
describe('while Slack does not answer', () => {
  it('fails closed within three seconds, also for a form', async () => {
    await using team = await startTeam({ settings: { OWNERS: USERS.nora.id } });
    team.slack.faults.slowDown('users.info', 20_000);
    const admin = rawUser(team, 'olga');
    const order = { plan: 'micro', location: 'ams', image: 'debian-13', label: 'x' };
    const { status, response, tookMs } = await admin.submits(
      'create_review',
      envelope({ order, price: 290 }, 'F1'),
    );
    expect(status).toBe(200);
    expect(response).toContain('Slack couldn’t confirm who you are');
    expect(tookMs).toBeLessThan(2900);
    team.slack.faults.clear();
    team.slack.faults.failMethod('users.info', 'internal_error');
    await admin.command('audit');
    await expect
      .poll(() => admin.ephemeralMessages().at(-1), { timeout: 3000 })
      .toContain('Try again in a minute');
    expect(team.hosting.requests()).toEqual([]);
    const [denied] = await admin.audit();
    expect(denied).toMatchObject({ outcome: 'denied', code: 'identity_unknown' });
  });

  it('still lets a user with a role for some servers pay without delay', async () => {
    await using team = await startTeam();
    await team.owner.types('/vps access grant @nora manager on web-*');
    await team.owner.sees('is now a manager');
    await team.restart();
    team.slack.faults.slowDown('users.info', 20_000);
    const order = { plan: 'small', location: 'ams', image: 'debian-13', label: 'web-1' };
    const nora = rawUser(team, 'nora');
    const { response, tookMs } = await nora.submits('create_review', envelope({ order, price: 590 }, 'F1'));
    expect(response).toContain('Creating');
    expect(tookMs).toBeLessThan(2900);
    await team.slack.as('nora').sees('web-1 is being created');
  });
});
