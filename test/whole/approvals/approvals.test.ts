import { describe, expect, test } from 'vitest';
import { money } from '../../../src/core/money.ts';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';
import { MINUTE_MS } from '../../../src/core/time.ts';
import { APPROVALS } from '../../../src/requests/request.ts';
import { TEAM, USERS, type UserName } from '../../../src/sandbox/slack/workspace.ts';
import { entry, newApproval } from '../../db/fixtures.ts';
import { deleteServer, fillDelete, orderOf, passwordOf, renewServer } from '../../support/acts.ts';
import { movableSystem } from '../../support/clocks.ts';
import { envelope, rawUser } from '../../support/raw-user.ts';
import {
  askDelete,
  askRenew,
  findApproval,
  type RuledTeam,
  startRuledTeam,
  TWO_PERSONS,
} from '../../support/ruled-team.ts';
import { grantRole, type TeamOptions } from '../../support/team.ts';

const makeManager = (team: RuledTeam, who: UserName) => grantRole(team, USERS[who].id, 'manager');

const takeRoles = ({ app }: RuledTeam, who: UserName) =>
  app.ports.grants.remove(TEAM.id, { subjectKind: 'user', subjectId: USERS[who].id });

/** A team with a server web-1, whose deletion or renewal the manager is about to confirm. */
const startWithServer = (settings = TWO_PERSONS, options: TeamOptions = {}) =>
  startRuledTeam(settings, { servers: 1, ...options });

const deletes = ({ hosting }: RuledTeam) => hosting.requests({ operation: 'delete' }).length;

describe.concurrent('a create that needs approval', () => {
  test('is paid once another manager approves it, and only the requester sees the password', async () => {
    await using team = await startRuledTeam();
    await team.manager.types(orderOf('web-1'));
    await team.manager.sees('Another manager must approve this');
    await team.manager.presses('Request approval');
    await team.approver.sees('wants to create web-1 for 5.90/month');
    await team.approver.sees('small · ams · debian-13');
    expect(team.approver.confirmationOf('Approve')).toContain('5.90/month');
    expect(team.creates()).toBe(0);
    await team.approver.presses('Approve');
    await team.manager.sees("I've saved it");
    expect(team.charges()).toBe(1);
    const password = passwordOf(team);
    await team.manager.sees(password);
    for (const place of ['#ops', 'dm']) team.slack.as('olga').in(place).doesNotSee(password);
    // One outcome, told once: that it was approved is no message of its own.
    expect(JSON.stringify(team.manager.messages())).not.toContain('@olga approved');
    team.approver.doesNotSee('[Approve]');
    await team.approver.sees('Approved by @olga');
    expect(await team.listAudit()).toEqual([
      'mara approval_ask done',
      'olga approval_answer done approved',
      'mara create done',
    ]);
  });

  test('is requested and paid once however often it is confirmed and approved, and never approved by its requester', async () => {
    await using team = await startRuledTeam();
    await team.askCreate();
    const confirmed = team.slack.lastDelivery('create_review');
    const again = await team.slack.redeliver(confirmed);
    expect(again.response).toContain('You already confirmed this.');
    expect(again.response).toContain('Waiting for another manager');
    expect(team.approver.messages()).toHaveLength(1);
    await team.manager.closes();
    await team.manager.types('/vps status');
    await team.manager.sees('Waiting for approval');
    team.manager.doesNotSee('[Approve]');
    const { id: approvalId } = await findApproval(team);
    await rawUser(team, 'mara').presses('approval_approve', { id: approvalId });
    await team.manager.sees('You can’t approve your own request');
    expect(await team.listAudit()).toContain('mara approval_answer denied own_request');
    expect(team.creates()).toBe(0);
    const approved = await team.approver.presses('Approve');
    await team.manager.sees("I've saved it");
    expect((await team.slack.redeliver(confirmed)).response).toContain('You won’t be charged twice');
    await team.slack.redeliver(approved);
    await team.approver.sees('This request was already approved');
    await team.restart();
    await team.slack.redeliver(approved);
    expect([team.creates(), team.charges()]).toEqual([1, 1]);
  });

  test('is paid once when five people approve it at once', async () => {
    await using team = await startRuledTeam();
    const others = ['otto', 'vera', 'nora'] as const;
    for (const who of others) await makeManager(team, who);
    await team.askCreate();
    const people = [team.approver, ...others.map((who) => team.slack.as(who).in('dm'))];
    for (const person of people) await person.sees('wants to create web-1');
    await Promise.all([...people, team.approver].map((person) => person.presses('Approve')));
    await team.manager.sees("I've saved it");
    for (const person of people) await person.sees('Approved by');
    expect(team.creates()).toBe(1);
    expect(team.charges()).toBe(1);
    const approvals = (await team.listAudit()).filter((entry) => entry.endsWith('done approved'));
    expect(approvals).toHaveLength(1);
  });

  test.each([
    1, 2,
  ])('is either paid or denied when Approve and Deny are pressed at once (%i)', async (round) => {
    await using team = await startRuledTeam();
    await makeManager(team, 'otto');
    await team.askCreate();
    const operator = team.slack.as('otto').in('dm');
    await operator.sees('wants to create web-1');
    const approve = () => team.approver.presses('Approve');
    const deny = () => operator.presses('Deny');
    await Promise.all(round % 2 === 0 ? [approve(), deny()] : [deny(), approve()]);
    await team.manager.sees(/I've saved it|denied it:/);
    const isDenied = team.manager.screen().includes('denied it:');
    if (team.charges() !== (isDenied ? 0 : 1)) throw new Error('the money is not where the words are');
    await operator.sees(isDenied ? 'Denied by @otto' : 'Approved by @olga');
  });

  test('is canceled when it is denied or its price has changed: both managers are told, and it can be requested again', async () => {
    await using team = await startRuledTeam();
    await team.askCreate();
    await team.approver.presses('Deny');
    await team.manager.sees('@olga denied it: web-1 wasn’t created');
    team.approver.doesNotSee('[Approve]');
    await team.manager.closes();
    await team.manager.presses('Request again…');
    await team.manager.presses('Request approval');
    await team.approver.sees('[Approve]');
    team.hosting.setPrice('small', '5.91');
    await team.approver.presses('Approve');
    await team.manager.sees('the price has changed since the request');
    await team.approver.sees(
      'Canceled: the price has changed since the request. Nothing was ordered or charged.',
    );
    team.approver.doesNotSee('[Approve]');
    await team.manager.closes();
    await team.manager.presses('Request again…');
    await team.manager.sees('5.91 per month. The first month');
    expect(team.creates()).toBe(0);
  });

  test('expires after an hour, whatever is pressed then', async () => {
    const system = movableSystem();
    await using team = await startRuledTeam(TWO_PERSONS, { system });
    await team.askCreate();
    system.move(59 * MINUTE_MS);
    await team.approver.sees('[Approve]');
    const { id: approvalId } = await findApproval(team);
    system.move(MINUTE_MS);
    await rawUser(team, 'olga').presses('approval_approve', { id: approvalId });
    await team.owner.sees('This request has expired');
    await team.manager.sees('in time');
    await team.manager.sees('Request again…');
    await team.approver.sees('in time');
    team.approver.doesNotSee('[Approve]');
    expect(team.creates()).toBe(0);
    expect(await team.listAudit()).toContain('app approval_answer failed expired');
  });

  test('is approved only by a manager of its server, and canceled when its requester no longer is one', async () => {
    await using team = await startRuledTeam();
    await makeManager(team, 'otto');
    await team.askCreate();
    await team.manager.closes();
    const operator = team.slack.as('otto').in('dm');
    await operator.sees('wants to create web-1');
    await takeRoles(team, 'otto');
    await operator.presses('Approve');
    await operator.sees('You need the manager role');
    await operator.presses('Deny');
    expect(team.creates()).toBe(0);
    expect(await team.listAudit()).toContain('otto approval_answer denied role_needed');
    // A manager of other servers gets no card either.
    await grantRole(team, USERS.otto.id, 'manager', { pattern: 'db-*' });
    await team.askCreate('web-2');
    operator.doesNotSee('web-2');
    const { id: approvalId } = await findApproval(team, 'web-2');
    await rawUser(team, 'otto').presses('approval_approve', { id: approvalId });
    await team.operator.sees('You need the manager role for web-2');
    expect(team.creates()).toBe(0);
    await team.approver.presses('Approve');
    await team.manager.sees("I've saved it");
    await team.manager.closes();
    await takeRoles(team, 'mara');
    await team.approver.presses('Approve');
    await team.manager.sees('@mara no longer has permission');
    expect(team.creates()).toBe(1);
  });

  test('is decided only in its own workspace, and only by values that the app wrote', async () => {
    await using team = await startRuledTeam();
    await team.askCreate();
    const { workspaces, requests } = team.app.ports;
    const [workspaceId, id] = ['T0ACME0001', 'of-elsewhere'];
    await workspaces.put({ id: workspaceId, name: 'Elsewhere' });
    const times = { requestedAt: Date.now(), expiresAt: Date.now() + 60 * MINUTE_MS };
    await requests.requestApproval(newApproval({ id, workspaceId, ...times }), entry({ workspaceId }));
    const owner = rawUser(team, 'olga');
    const screen = team.slack.as('olga');
    await owner.presses('approval_approve', { id });
    await screen.sees('This request no longer exists');
    await owner.presses('approval_approve', { id: 'never-made' });
    for (const forged of [{ id: 7 }, {}, 'x', { id: null }]) {
      const before = owner.mark();
      await owner.presses('approval_approve', forged);
      await owner.seesChange(before);
    }
    await screen.sees('This button or form is out of date');
    // A confirmation under the id of another user's approval is refused.
    const order = { plan: 'small', location: 'ams', image: 'debian-13', label: 'x' };
    const forged = await rawUser(team, 'mara').submits('create_review', envelope({ order, price: 590 }, id));
    expect(forged.response).toContain('isn’t set up for this workspace');
    expect(team.creates()).toBe(0);
    expect((await requests.find(id, APPROVALS))?.state).toBe('open');
  });

  test('below the price of the rule is paid at once', async () => {
    const approval = { ...DEFAULT_SETTINGS.approval, createAbove: money(590) };
    await using team = await startRuledTeam({ ...DEFAULT_SETTINGS, approval });
    await team.manager.types(orderOf('web-1'));
    await team.manager.sees('Create and pay');
    team.manager.doesNotSee('Another manager must');
    await team.manager.presses('Create and pay');
    await team.manager.sees("I've saved it");
    await team.manager.closes();
    await team.manager.types('/vps create plan=medium location=ams image=debian-13 label=web-2');
    await team.manager.presses('Request approval');
    await team.approver.sees('wants to create web-2 for 11.90/month');
    expect(team.charges()).toBe(1);
  });
});

describe.concurrent('a delete that needs approval', () => {
  test('is done once another manager approves it, and announced in the channel', async ({ expect }) => {
    await using team = await startWithServer();
    await team.manager.types('/vps delete web-1');
    await team.manager.sees('Another manager must approve this');
    await team.manager.closes();
    await askDelete(team);
    await team.approver.sees('Deletes all data and 30 paid days');
    expect(deletes(team)).toBe(0);
    const delivery = await team.approver.presses('Approve');
    await team.manager.sees('@olga approved. web-1 was deleted.');
    await team.approver.sees('Approved by @olga. web-1 was deleted.');
    await team.slack.redeliver(delivery);
    expect(deletes(team)).toBe(1);
    await expect
      .poll(() => team.listAudit())
      .toEqual([
        'mara approval_ask done',
        'olga approval_answer done approved',
        'mara delete started',
        'mara delete done',
        'olga approval_answer failed request_over',
      ]);
    await team.viewer.sees('@mara deleted web-1, approved by @olga. It’s no longer in the hosting account.');
    expect(team.viewer.messages()).toHaveLength(1);
  });

  test.each([
    ['deleted', deleteServer, 'the server is no longer in the hosting account’s list'],
    ['renewed', renewServer, 'paid-until date has changed since'],
  ])('is canceled when the server was %s in the meantime', async (_what, act, words) => {
    await using team = await startWithServer();
    await askDelete(team);
    await team.setSettings(DEFAULT_SETTINGS);
    await makeManager(team, 'otto');
    await act(team.operator);
    const before = deletes(team);
    await team.approver.presses('Approve');
    await team.manager.sees(words);
    if (deletes(team) !== before) throw new Error('it was deleted all the same');
  });

  test.each([
    ['lost_after', 'web-1 was deleted.'],
    ['lost_before', 'We’re not sure whether web-1 was deleted'],
    ['error', 'The hosting API says that web-1 can’t be deleted in its current state.'],
  ] as const)('whose answer is %s is sent once, and reported as: %s', async (kind, words) => {
    await using team = await startWithServer();
    await askDelete(team);
    team.hosting.faults.add({ on: 'delete', kind, ...(kind === 'error' ? { code: 'wrong_state' } : {}) });
    await team.approver.presses('Approve');
    await team.manager.sees(words);
    if (deletes(team) !== 1) throw new Error(`sent ${deletes(team)} times`);
  });

  test('is shown as pending to another manager who tries to delete the same server', async () => {
    await using team = await startWithServer();
    await askDelete(team);
    await makeManager(team, 'otto');
    const { operator } = team;
    await fillDelete(operator);
    await operator.presses('Request approval');
    await operator.sees('@mara has already requested this');
    await operator.closes();
    await operator.types('/vps status');
    await operator.sees('Waiting for approval');
    await operator.presses('Approve');
    await team.manager.sees('@otto approved. web-1 was deleted.');
    expect(deletes(team)).toBe(1);
  });
});

test.concurrent('a clock that is set back while an approval is pending neither refuses nor expires it: a create is paid once, a delete done once', async () => {
  const system = movableSystem();
  await using team = await startWithServer(TWO_PERSONS, { system });
  await askDelete(team);
  await team.manager.closes();
  await team.askCreate('new-1');
  system.stepWall(-4 * MINUTE_MS);
  await team.app.ports.jobs.runDue();
  await team.approver.presses('Approve');
  await team.manager.sees("I've saved it");
  expect(team.charges()).toBe(1);
  await team.manager.closes();
  await team.approver.presses('Approve');
  await team.manager.sees('web-1 was deleted.');
  expect(deletes(team)).toBe(1);
  expect((await team.listAudit()).join('\n')).not.toContain('expired');
});

test.concurrent('a renewal that needs approval is paid once, and canceled when the month was paid in the meantime', async () => {
  await using team = await startWithServer();
  await askRenew(team);
  await team.approver.sees('(price unknown)');
  await team.approver.presses('Approve');
  await team.manager.sees('web-1 was renewed');
  expect(team.renewals()).toBe(1);
  await team.manager.closes();
  team.approver.overlooksOldMessages();
  await askRenew(team);
  await team.setSettings(DEFAULT_SETTINGS);
  await renewServer(team.owner);
  await team.approver.presses('Approve');
  await team.manager.sees('the server’s paid-until date has changed since the request');
  expect(team.renewals()).toBe(2);
  expect(team.charges()).toBe(2);
});
