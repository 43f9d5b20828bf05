import { describe, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../src/core/time.ts';
import { APPROVALS } from '../../../src/requests/request.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { orderOf, passwordOf } from '../../support/acts.ts';
import { movableSystem } from '../../support/clocks.ts';
import { until } from '../../support/eventually.ts';
import { showOtherwise, showServersAs } from '../../support/other-answers.ts';
import { rawUser } from '../../support/raw-user.ts';
import { askRenew, findApproval, startRuledTeam, TWO_PERSONS } from '../../support/ruled-team.ts';
import { grantRole, type Team } from '../../support/team.ts';

/** Waits until Slack has refused a call of this method; to this user or channel, if one is named. */
async function untilRefused({ slack }: Pick<Team, 'slack'>, method: string, to = ''): Promise<void> {
  const isTo = new RegExp(`\\bchannel"?[=:]"?${to}`);
  await until(() => {
    const calls = slack.traffic().filter(({ what, request }) => what === method && isTo.test(request));
    return calls.some(({ response }) => response.includes('"ok":false'));
  });
}

const OPS = 'C0OPS00001';

describe.concurrent('who is asked to approve', () => {
  test('is the channel in the settings, where any manager can answer', async () => {
    await using team = await startRuledTeam({ ...TWO_PERSONS, channelId: OPS });
    await team.manager.types(orderOf('web-1'));
    await team.manager.presses('Request approval');
    await team.owner.sees('wants to create web-1');
    expect(team.approver.messages()).toEqual([]);
    await team.viewer.presses('Approve');
    await team.viewer.sees('You need the manager role');
    await team.owner.presses('Approve');
    await team.manager.sees("I've saved it");
    await team.viewer.sees('Approved by @olga');
    team.owner.doesNotSee(passwordOf(team));
  });

  test('is every manager directly when the app can’t post in the approvals channel', async () => {
    await using team = await startRuledTeam({ ...TWO_PERSONS, channelId: 'C0RANDOM01' });
    await team.askCreate();
    await team.approver.presses('Approve');
    await team.manager.sees("I've saved it");
  });

  test('is every known manager and owner, including group members, and no other user', async ({ expect }) => {
    await using team = await startRuledTeam();
    await grantRole(team, 'S0ONCALL01', 'manager', { subjectKind: 'group' });
    await grantRole(team, USERS.finn.id, 'manager');
    await grantRole(team, OPS, 'manager', { subjectKind: 'channel' });
    await team.askCreate();
    for (const who of ['otto', 'nora'] as const)
      await team.slack.as(who).in('dm').sees('wants to create web-1');
    const cards = async () =>
      (await team.app.ports.requests.listOpen(TEAM.id, APPROVALS)).flatMap((approval) => approval.cards);
    await expect.poll(cards).toHaveLength(3);
    expect(team.slack.as('vera').in('dm').messages()).toEqual([]);
    expect(team.slack.as('mara').in('dm').messages()).toEqual([]);
  });

  test('is nobody when no manager is known: the requester is told, and a manager finds the request in /vps status', async () => {
    await using team = await startRuledTeam(TWO_PERSONS, {
      settings: { OWNERS: USERS.mara.id },
      hasRoles: false,
    });
    await team.manager.types(orderOf('web-1'));
    await team.manager.presses('Request approval');
    await team.manager.sees('We couldn’t message any manager');
    const admin = team.slack.as('olga');
    await admin.types('/vps status');
    await admin.sees('Waiting for approval');
    await admin.presses('Approve');
    await team.manager.sees("I've saved it");
    expect(team.charges()).toBe(1);
    await grantRole(team, USERS.vera.id, 'viewer');
    await team.viewer.types('/vps status');
    await team.viewer.sees('Unsaved root passwords');
    team.viewer.doesNotSee('Waiting for approval');
  });
});

describe.concurrent('while Slack does not answer', () => {
  test('cards that could not be posted are posted later', async () => {
    const system = movableSystem();
    await using team = await startRuledTeam(TWO_PERSONS, { system });
    team.slack.faults.failMethod('chat.postMessage', 'fatal_error');
    team.slack.faults.failMethod('chat.postEphemeral', 'fatal_error');
    team.slack.faults.breakReplyUrls();
    await team.manager.types(orderOf('web-1'));
    await team.manager.presses('Request approval');
    await team.manager.sees('Waiting for another manager');
    // The requester is told last that no manager could be reached.
    await untilRefused(team, 'chat.postMessage', USERS.mara.id);
    expect(team.approver.messages()).toEqual([]);
    team.slack.faults.clear();
    system.move(2 * MINUTE_MS);
    await team.approver.sees('wants to create web-1');
    system.move(2 * MINUTE_MS);
    await team.approver.presses('Approve');
    await team.manager.sees("I've saved it");
    expect(team.approver.messages().filter(({ ephemeral }) => !ephemeral)).toHaveLength(1);
  });

  test('a requester who could not be notified of the decision is notified later, once', async ({
    expect,
  }) => {
    const system = movableSystem();
    await using team = await startRuledTeam(TWO_PERSONS, { system });
    await team.askCreate();
    team.slack.faults.failMethod('chat.postMessage', 'fatal_error');
    team.slack.faults.failMethod('chat.postEphemeral', 'fatal_error');
    team.slack.faults.failMethod('chat.update', 'fatal_error');
    team.slack.faults.breakReplyUrls();
    await team.approver.presses('Deny');
    await team.approver.sees('[Approve]');
    // The card is updated first and the requester is told last: with a direct message, where nothing else got through.
    await untilRefused(team, 'chat.update');
    await untilRefused(team, 'chat.postMessage', USERS.mara.id);
    team.slack.faults.clear();
    // The form that the requester left open shows the outcome as well; only the message counts here.
    const outcomes = () => team.manager.messages().filter(({ shown }) => shown.includes('denied it:'));
    system.move(2 * MINUTE_MS);
    await expect.poll(outcomes).toHaveLength(1);
    await team.approver.sees('Denied by @olga');
    for (const _ of [1, 2]) {
      system.move(2 * MINUTE_MS);
      await team.app.ports.jobs.runDue();
    }
    expect(outcomes()).toHaveLength(1);
  });
});

describe.concurrent('a pending approval', () => {
  test('is withdrawn by its requester alone, and can’t be approved after that', async () => {
    await using team = await startRuledTeam();
    await team.askCreate();
    const { id } = await findApproval(team);
    await rawUser(team, 'otto').presses('approval_withdraw', { id });
    await team.operator.sees('Only @mara can withdraw this request');
    expect((await findApproval(team)).id).toBe(id);
    await team.manager.closes();
    await team.manager.presses('Withdraw request');
    await team.manager.sees('You withdrew your request: web-1 wasn’t created. Nothing was charged.');
    await team.approver.sees('Withdrawn by @mara');
    team.approver.doesNotSee('[Approve]');
    await rawUser(team, 'olga').presses('approval_approve', { id });
    await team.owner.sees('This request was withdrawn by @mara');
    expect([team.creates(), team.charges()]).toEqual([0, 0]);
    expect(await team.listAudit()).toContain('mara approval_withdraw done');
  });

  test('is denied with a reason, which the requester sees and the audit keeps', async () => {
    await using team = await startRuledTeam();
    await team.askCreate();
    await team.approver.presses('Deny with reason…');
    await team.approver.fills({ Reason: 'Wait for the release' });
    await team.approver.presses('Deny');
    await team.manager.sees('@olga denied it: web-1 wasn’t created. Nothing was charged.');
    await team.manager.sees('Wait for the release');
    await team.approver.sees('Denied by @olga');
    const entries = await team.app.ports.audit.list({ workspaceId: TEAM.id, limit: 20 });
    const reason = entries.find(({ action }) => action === 'denial_reason');
    expect(reason).toMatchObject({ label: 'Wait for the release', outcome: 'done' });
    expect(entries.find(({ actId, code }) => actId === reason?.actId && code === 'denied')).toBeDefined();
    expect(team.creates()).toBe(0);
  });
});

describe.concurrent('an approval that can’t be checked again', () => {
  test('stays open, with the reason shown, while Slack can’t say whether the requester still has the role', async () => {
    const system = movableSystem();
    await using team = await startRuledTeam(TWO_PERSONS, { system });
    // The requester is a manager only through a group.
    await team.app.ports.grants.remove(TEAM.id, { subjectKind: 'user', subjectId: USERS.mara.id });
    await grantRole(team, 'S0PLATFORM', 'manager', { subjectKind: 'group' });
    await team.askCreate();
    for (const method of ['users.info', 'usergroups.list', 'usergroups.users.list'])
      team.slack.faults.failMethod(method, 'internal_error');
    // Slack's earlier answers are not cached any more.
    system.move(6 * MINUTE_MS);
    await team.approver.presses('Approve');
    await team.approver.sees('Slack couldn’t confirm whether @mara still has permission');
    await team.approver.sees('Nothing was approved. The request is still pending');
    expect(team.creates()).toBe(0);
    expect(await team.listAudit()).toContain('olga approval_answer failed identity_unknown');
    team.slack.faults.clear();
    system.move(31_000);
    await team.approver.presses('Approve');
    await team.manager.sees("I've saved it");
    expect(team.charges()).toBe(1);
  });

  test('stays open while the hosting API does not answer, and shows that it is being checked and then the result', async () => {
    await using team = await startRuledTeam();
    await team.askCreate();
    team.hosting.faults.add({ on: 'catalog', kind: 'hang', times: 'always' });
    const approving = team.approver.presses('Approve');
    await team.approver.sees('Checking that nothing has changed');
    await team.approver.sees(
      'The hosting API didn’t answer. Nothing was approved. The request is still pending',
      10_000,
    );
    await approving;
    expect(await team.listAudit()).toContain('olga approval_answer failed no_answer');
    team.hosting.faults.clear();
    await team.approver.presses('Approve');
    await team.manager.sees("I've saved it");
    expect(team.charges()).toBe(1);
  });
});

test('an approval is canceled when the server that was to be renewed has another label or was deleted, and when the plan is gone', async () => {
  await using team = await startRuledTeam(TWO_PERSONS, { servers: 1 });
  for (const [fields, words] of [
    [{ label: 'db-prod' }, 'web-1 wasn’t renewed: the server’s label has changed since the request'],
    [{ state: 'deleted' }, 'the server is no longer in the hosting account’s list'],
  ] as const) {
    await askRenew(team);
    const restore = showServersAs(team, fields);
    await team.approver.presses('Approve');
    await team.manager.sees(words);
    await team.manager.closes();
    restore();
  }
  expect([team.renewals(), team.charges()]).toEqual([0, 0]);
  await team.askCreate('new-1');
  showOtherwise(team, (hosting) => ({
    fetchCatalog: async (options) => {
      const catalog = await hosting.fetchCatalog(options);
      return { ...catalog, plans: catalog.plans.filter(({ code }) => code !== 'small') };
    },
  }));
  await team.approver.presses('Approve');
  await team.manager.sees('the plan, location or image is no longer in the catalog');
  team.manager.doesNotSee('price has changed');
  expect(team.creates()).toBe(0);
});

test('a label of 600 characters is distinguished from one that differs at its end, and renewed for a role whose pattern matches that end', async () => {
  const prefix = `web-${'a'.repeat(591)}-prod`;
  await using team = await startRuledTeam();
  await grantRole(team, USERS.mara.id, 'manager', { pattern: '*-prod-1' });
  const [id = 0] = team.hosting.seedServers(team.account, 1, prefix);
  await askRenew(team, String(id));
  const restore = showServersAs(team, { label: `${prefix}-2` });
  await team.approver.presses('Approve');
  await team.manager.sees('the server’s label has changed since the request');
  expect(team.renewals()).toBe(0);
  await team.manager.closes();
  restore();
  await askRenew(team, String(id));
  await team.approver.presses('Approve');
  await team.manager.sees('is now paid until');
  expect(team.renewals()).toBe(1);
});
