import { describe, expect, it, test } from 'vitest';
import { HOUR_MS } from '../../../src/core/time.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { askForRole, orderOf } from '../../support/acts.ts';
import { movableSystem } from '../../support/clocks.ts';
import { changesSeen, rawUser } from '../../support/raw-user.ts';
import { grantRole, startTeam, type TeamOptions } from '../../support/team.ts';
import { audited, openRequests, rolesOf } from './support.ts';

/** A team with servers, whose newcomer was refused a reboot and has asked for the role. */
async function startWithRequest(options: TeamOptions = {}) {
  const team = await startTeam({ servers: 2, ...options });
  const nora = team.slack.as('nora');
  const approver = team.slack.as('olga').in('dm');
  await nora.types('/vps reboot web-1');
  await nora.sees('You need the operator role');
  await nora.presses('Ask for access');
  await nora.fills({ 'Why do you need it?': 'web-1 hangs & <!channel>' });
  await nora.presses('Send request');
  await nora.sees('sent to @olga. We’ll let you know.');
  await approver.sees('@nora is requesting the operator role');
  await approver.sees('web-1 hangs & <!channel>');
  return Object.assign(team, { nora, approver });
}

it.concurrent('an owner who answers a request can grant a lower role, for some servers, for a time, and never more than was requested', async ({
  expect,
}) => {
  await using team = await startWithRequest();
  const [request] = await openRequests(team);
  const form = { o: { formId: 'F1', channelId: 'C0OPS00001' }, m: { id: request?.id } };
  const by = rawUser(team, 'olga');
  await by.submits('approve_access', form, { role: 'owner', time: 'permanent' });
  await expect.poll(async () => (await by.audit())[0]?.code).toBe('beyond_request');
  expect(await rolesOf(team)).toEqual([]);
  await team.approver.presses('Approve with changes…');
  await team.approver.fills({ Role: 'viewer', 'Limit to servers': 'web-*', Duration: '1 day' });
  await team.approver.presses('Approve');
  await team.approver.sees('Approved by @olga: @nora is now a viewer for web-* until');
  await team.nora.sees('@olga made you a viewer for web-* until');
  await team.nora.sees('You requested the operator role.');
  expect(await rolesOf(team)).toEqual(['viewer web-*']);
});

describe.concurrent('a requester', () => {
  it('alone withdraws a request, with its button or the command, and the owners can’t approve it any more', async () => {
    await using team = await startWithRequest();
    const [request] = await openRequests(team);
    await rawUser(team, 'vera').presses('access_withdraw', { id: request?.id });
    await team.slack.as('vera').sees('Only @nora can withdraw this request');
    expect(await openRequests(team)).toHaveLength(1);
    await team.nora.presses('Withdraw request');
    await team.nora.sees('You withdrew your request for the operator role.');
    await team.approver.sees('Withdrawn by @nora');
    team.approver.doesNotSee('[Deny]');
    await rawUser(team, 'olga').presses('access_permanent', { id: request?.id });
    await team.slack.as('olga').sees('This request was withdrawn');
    expect(await rolesOf(team)).toEqual([]);
    expect((await audited(team, 'access_withdraw')).map(({ outcome }) => outcome)).toEqual([
      'done',
      'started',
      'denied',
      'started',
    ]);
    team.nora.overlooksOldMessages();
    await askForRole(team.nora, 'operator', 'web-1 hangs');
    await team.nora.sees('sent to @olga. We’ll let you know.');
    await team.nora.types('/vps access withdraw');
    await team.nora.sees('You withdrew your request for the operator role.');
    await team.nora.types('/vps access withdraw');
    await team.nora.sees('You don’t have an open request');
  });

  it('who was granted the role can run the refused command again with a button that asks for confirmation', async () => {
    await using team = await startWithRequest();
    await team.approver.presses('Approve for 8 h');
    await team.nora.sees('@olga made you an operator until');
    expect(changesSeen(team)).toEqual([]);
    expect(team.nora.confirmationOf('Run /vps reboot web-1')).toContain('/vps reboot web-1');
    await team.nora.presses('Run /vps reboot web-1');
    await team.nora.sees('rebooted web-1');
    expect(changesSeen(team)).toHaveLength(1);
  });

  it('can’t run the refused command once the role has ended or was revoked, and no other user can', async ({
    expect,
  }) => {
    const system = movableSystem();
    await using team = await startWithRequest({ system });
    const [request] = await openRequests(team);
    await team.approver.presses('Approve for 8 h');
    await team.nora.sees('made you an operator');
    await rawUser(team, 'vera').presses('access_continue', { id: request?.id });
    await team.slack.as('vera').sees('This button has expired or isn’t yours');
    await team.app.ports.grants.remove(TEAM.id, { subjectKind: 'user', subjectId: USERS.nora.id });
    await team.nora.presses('Run /vps reboot web-1');
    await expect
      .poll(async () => (await rawUser(team, 'nora').audit())[0])
      .toMatchObject({ code: 'role_needed' });
    system.move(8 * HOUR_MS + 1);
    await rawUser(team, 'nora').presses('access_continue', { id: request?.id });
    await team.nora.sees('This button has expired. To run the command, type /vps reboot web-1.');
    expect(changesSeen(team)).toEqual([]);
  });
});

describe.concurrent('the access screen', () => {
  it('lists everyone by role, with how they have it, Slack’s admins included', async () => {
    await using team = await startTeam();
    const { owner } = team;
    await owner.types('/vps access grant @oncall operator on web-* for 8h');
    await owner.sees('Members of @oncall are now operators');
    await owner.types('/vps access grant #ops viewer');
    await owner.sees('In #ops, full members are now viewers');
    await owner.types('/vps access');
    await owner.sees('Slack admin');
    const shown = owner.messages().at(-1)?.shown ?? '';
    const places = ['Owners', '@olga: ', 'Managers', '@mara: all servers', 'Operators'].map((words) =>
      shown.indexOf(words),
    );
    expect(places.every((place, at) => place > (places[at - 1] ?? -1))).toBe(true);
    await owner.sees('Group @oncall: web-*, until');
    await owner.sees('Full members in #ops: all servers');
  });
});

async function startInGrid() {
  const team = await startTeam({ servers: 2 });
  team.slack.admin.joinGrid();
  return team;
}

describe.concurrent('a workspace of an Enterprise Grid', () => {
  it('works like any other, with IDs that begin with W', async () => {
    await using team = await startInGrid();
    const { slack } = team;
    const wanda = slack.admin.addUser({ id: 'W0WANDA001', name: 'wanda' });
    const owner = slack.as('olga');
    await owner.types(`/vps access grant <@${wanda.id}|wanda> operator`);
    await owner.sees('@wanda is now an operator');
    const screen = slack.as(wanda);
    await screen.types('/vps show web-1');
    await screen.presses('Reboot');
    await screen.sees('rebooted web-1');
    await owner.overlooksOldMessages().types(`/vps audit <@${wanda.id}|wanda>`);
    await owner.sees(/by @wanda[\s\S]*@wanda reboot/);
  });

  it('is not mistaken for the whole organization, whose payloads name no workspace', async ({ expect }) => {
    await using team = await startInGrid();
    const by = rawUser(team, 'mara');
    const actions = [
      {
        action_id: 'reboot',
        block_id: 'b',
        type: 'button',
        value: JSON.stringify({ id: team.serverIds[0] }),
      },
    ];
    const known = { id: by.id, team_id: TEAM.id };
    await by.interacts('block_actions', { team: null, user: known, actions });
    await expect.poll(() => by.audit()).toHaveLength(2);
    await by.interacts('block_actions', { team: null, user: { id: by.id, team_id: 'E0SANDBOX' }, actions });
    await by.interacts('block_actions', { team: null, user: { id: by.id }, actions });
    expect(await by.audit()).toHaveLength(2);
    expect(team.hosting.requests().filter(({ method }) => method !== 'GET')).toHaveLength(1);
  });
});

test.concurrent('a viewer for web-* learns no other label by ID, address, beginning or misspelling, or from /vps status', async () => {
  await using team = await startTeam({ servers: 1 });
  const nora = team.slack.as('nora');
  await grantRole(team, nora.id, 'viewer', { pattern: 'web-*' });
  team.hosting.seedServers(team.account, 1, 'payroll');
  const [, secret] = team.hosting.listServers(team.account);
  expect(secret?.label).toBe('payroll-1');
  for (const typed of [String(secret?.id), secret?.ipv4 ?? '', 'p', 'payr', 'pyaroll-1', 'payrolls']) {
    for (const act of ['show', 'reboot', 'delete']) {
      nora.overlooksOldMessages();
      await nora.types(`/vps ${act} ${typed}`);
      await nora.sees(/role|no server/i);
      nora.doesNotSee('payroll-1');
      if (nora.modal()) await nora.closes();
    }
  }
  team.hosting.faults.add({ on: 'create', kind: 'lost_before' });
  // Not in #ops, where what is ordered is announced to everyone.
  const mara = team.slack.as('mara').in('dm');
  await mara.types(orderOf('payroll-2'));
  await mara.presses('Create and pay');
  await mara.types('/vps status');
  await mara.sees('payroll-2 (create, @mara)');
  nora.overlooksOldMessages();
  await nora.types('/vps status');
  await nora.sees('The hosting API is up');
  nora.doesNotSee('payroll');
});
