import { describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';
import { HOUR_MS } from '../../../src/core/time.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { newRoleRequest } from '../../db/fixtures.ts';
import { askForRole } from '../../support/acts.ts';
import { movableSystem } from '../../support/clocks.ts';
import { showServersAs } from '../../support/other-answers.ts';
import { envelope, rawUser } from '../../support/raw-user.ts';
import { startRuledTeam } from '../../support/ruled-team.ts';
import { grantRole, startTeam, type Team, type TeamOptions } from '../../support/team.ts';
import { openRequests, rolesOf } from './support.ts';

const WEEK_MS = 7 * 24 * HOUR_MS;

/** The workspace, a requester in #ops, and the owner, who answers in a direct message. */
async function startWithRequester(options: TeamOptions = {}) {
  const team = await startTeam(options);
  const nora = team.slack.as('nora');
  const approver = team.slack.as('olga').in('dm');
  const ask = async (wish: string, words: string) => {
    nora.overlooksOldMessages();
    await askForRole(nora, wish);
    await nora.sees(words);
    // Sent, the form has closed; a refusal stands in it, or in a message if it came too late for that.
    if (nora.modal()) await nora.closes();
  };
  return Object.assign(team, { nora, approver, ask });
}

/** Stores a request of @nora, as another process would. */
async function writeRequest({ app }: Team, more: { role: 'owner'; pattern: string }): Promise<string> {
  const { requests, system } = app.ports;
  const id = system.newId();
  const by = { id, workspaceId: TEAM.id, requesterId: USERS.nora.id, requestedAt: system.now() };
  await requests.requestRole(newRoleRequest({ ...by, ...more }), 0);
  return id;
}

it.concurrent('asking to be an owner of one server is refused before the form asks for a reason, if the form is submitted anyway, and when such a request is to be approved', async ({
  expect,
}) => {
  await using team = await startWithRequester();
  await team.nora.types('/vps access ask owner on web-1');
  await team.nora.sees('Owners always have access to every server');
  await team.nora.closes();
  await rawUser(team, 'nora').submits('ask_access', envelope({ role: 'owner', label: 'web-1' }, 'F1'), {
    reason: 'x',
  });
  await expect
    .poll(async () => (await rawUser(team, 'nora').audit()).map(({ code }) => code))
    .toContain('owner_limited');
  expect(await openRequests(team)).toEqual([]);
  const requestId = await writeRequest(team, { role: 'owner', pattern: 'web-1' });
  const owner = rawUser(team, 'olga');
  for (const press of ['access_permanent', 'access_workday']) {
    await owner.presses(press, { id: requestId });
    await expect.poll(async () => (await owner.audit())[0]?.code).toBe('owner_limited');
  }
  expect(await rolesOf(team)).toEqual([]);
  await owner.presses('access_deny', { id: requestId });
  await expect.poll(async () => (await openRequests(team)).length).toBe(0);
});

describe.concurrent('asking for a server without a label', () => {
  it('is not treated as a request for all servers', async () => {
    await using team = await startWithRequester();
    const by = rawUser(team, 'nora');
    await by.presses('access_ask', { role: 'manager', label: '' });
    await team.nora.sees('This button or form is out of date');
    await by.submits('ask_access', envelope({ role: 'manager', label: '' }, 'F1'), { reason: 'x' });
    expect(await openRequests(team)).toEqual([]);
  });

  it('is not offered when a command on that server is refused', async () => {
    await using team = await startWithRequester({ servers: 1 });
    showServersAs(team, { label: '' });
    await grantRole(team, team.nora.id, 'operator', { pattern: 'web-*' });
    await team.nora.types(`/vps reboot ${team.serverIds[0]}`);
    await team.nora.sees('You need the operator role');
    team.nora.doesNotSee('[Ask for access]');
  });
});

describe.concurrent('approving a request', () => {
  it('for a lower role does not revoke a higher one that was granted since', async () => {
    await using team = await startWithRequester();
    await team.ask('viewer', 'We’ll let you know');
    await team.approver.types('/vps access grant @nora manager');
    await team.approver.sees('is now a manager');
    await team.approver.presses('Approve permanently');
    await team.approver.sees('is now a viewer');
    expect(await rolesOf(team)).toEqual(['manager']);
  });

  it('for eight hours does not shorten a grant for a day; a direct grant by an owner does', async ({
    expect,
  }) => {
    const system = movableSystem();
    await using team = await startWithRequester({ system });
    await team.ask('operator', 'We’ll let you know');
    await team.approver.types('/vps access grant @nora operator for 24h');
    await team.approver.sees('is now an operator');
    await team.approver.presses('Approve for 8 h');
    await team.approver.sees('Approved by @olga');
    const ends = async () =>
      (await team.app.ports.grants.list(TEAM.id))
        .filter(({ subjectId }) => subjectId === USERS.nora.id)
        .map(({ until = 0 }) => Math.round((until - system.now()) / HOUR_MS));
    expect(await ends()).toEqual([24]);
    await team.approver.types('/vps access grant @nora operator for 1h');
    await expect.poll(ends).toEqual([1]);
  });
});

describe.concurrent('asking again and again', () => {
  it('for the same role is refused until it is withdrawn; then the user can ask for the right one at once', async () => {
    const system = movableSystem();
    await using team = await startWithRequester({ system });
    await team.ask('viewer on made-up', 'We’ll let you know');
    system.move(HOUR_MS + 1);
    await team.ask('viewer on made-up', 'the owners haven’t answered yet');
    expect(team.approver.messages()).toHaveLength(1);
    await team.nora.types('/vps access withdraw');
    await team.nora.sees('You withdrew your request');
    await team.ask('operator on web-1', 'We’ll let you know');
    await team.ask('viewer on made-up', 'We’ll let you know');
    expect((await openRequests(team)).map(({ role }) => role)).toEqual(['operator', 'viewer']);
  });

  it('is refused for an hour after the request was denied', async () => {
    const system = movableSystem();
    await using team = await startWithRequester({ system });
    await team.ask('viewer', 'We’ll let you know');
    await team.approver.presses('Deny');
    await team.nora.sees('denied your request');
    await team.ask('viewer', 'You can ask again after');
    system.move(HOUR_MS + 1);
    await team.ask('viewer', 'We’ll let you know');
  });

  it('reaches the owners at most three times an hour', async () => {
    const system = movableSystem();
    await using team = await startWithRequester({ system });
    for (const place of [1, 2]) await team.ask(`viewer on made-up-${place}`, 'We’ll let you know');
    await team.nora.types('/vps access withdraw');
    await team.nora.sees('You withdrew your request');
    await team.ask('viewer on made-up-3', 'We’ll let you know');
    await team.ask('manager', 'several requests in the last hour');
    expect(team.approver.messages()).toHaveLength(3);
    expect(await openRequests(team)).toHaveLength(1);
    system.move(HOUR_MS + 1);
    await team.ask('manager', 'We’ll let you know');
  });

  it('ends after a week without an answer: the request expires, and the requester is notified', async ({
    expect,
  }) => {
    const system = movableSystem();
    await using team = await startWithRequester({ system });
    await team.ask('viewer', 'We’ll let you know');
    await team.approver.sees('is requesting the viewer role');
    const requestId = (await openRequests(team))[0]?.id ?? '';
    system.move(WEEK_MS);
    await rawUser(team, 'olga').presses('access_permanent', { id: requestId });
    await expect.poll(async () => (await rawUser(team, 'olga').audit())[0]?.code).toBe('request_over');
    await team.approver.sees('Expired: no owner answered within a week');
    await team.slack.as('nora').in('dm').sees('No owner answered your request');
    expect(await rolesOf(team)).toEqual([]);
  });
});

it.concurrent('a request that reached no owner is posted when it is requested again, and never said to have been sent before that', async () => {
  await using team = await startWithRequester();
  team.slack.faults.failMethod('chat.postMessage', 'internal_error');
  await team.ask('viewer', 'We haven’t been able to message the owners yet');
  team.slack.faults.clear();
  await team.ask('viewer', 'We’ll let you know');
  await team.approver.sees('is requesting the viewer role');
  await team.ask('viewer', 'the owners haven’t answered yet');
  expect(team.approver.messages()).toHaveLength(1);
});

it.concurrent('a request for a role in a workspace with an approvals channel still goes to the owners directly, since its reason may be private', async () => {
  await using team = await startRuledTeam({ ...DEFAULT_SETTINGS, channelId: 'C0OPS00001' });
  await askForRole(team.slack.as('nora'), 'viewer');
  await team.approver.sees('is requesting the viewer role');
  team.slack.as('mara').doesNotSee('is requesting the');
});
