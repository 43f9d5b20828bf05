import { describe, test } from 'vitest';
import { APPROVALS } from '../../../src/requests/request.ts';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { rawUser } from '../../support/raw-user.ts';
import { startRuledTeam, TWO_PERSONS } from '../../support/ruled-team.ts';
import { MODES } from '../../support/team.ts';

const findApproval = async ({ app }: Awaited<ReturnType<typeof startRuledTeam>>) => {
  const [approval] = await app.ports.requests.listOpen(TEAM.id, APPROVALS);
  if (!approval) throw new Error('nothing waits');
  return approval;
};

describe.concurrent.each(MODES)('a pending approval over %s', (mode) => {
  const start = () => startRuledTeam(TWO_PERSONS, { mode });

  test('is withdrawn by its requester, and can’t be approved after that', async ({ expect }) => {
    await using team = await start();
    await team.askCreate();
    const { id } = await findApproval(team);
    await team.manager.closes();
    await team.manager.presses('Withdraw request');
    await team.manager.sees('You withdrew your request: web-1 wasn’t created. Nothing was charged.');
    await team.owner.sees('Withdrawn by @mara');
    team.owner.doesNotSee('[Approve]');
    await rawUser(team, 'olga').presses('approval_approve', { id });
    await team.slack.as('olga').in('#ops').sees('This request was withdrawn by @mara');
    expect([team.creates(), team.charges()]).toEqual([0, 0]);
    expect(await team.listAudit()).toContain('mara approval_withdraw done');
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test('can’t be withdrawn by anyone else', async ({ expect }) => {
    await using team = await start();
    await team.askCreate();
    const { id } = await findApproval(team);
    await rawUser(team, 'otto').presses('approval_withdraw', { id });
    await team.slack.as('otto').in('#ops').sees('Only @mara can withdraw this request');
    expect((await findApproval(team)).id).toBe(id);
  });

  test.each([
    1, 2, 3,
  ])('is either paid or withdrawn when it is approved and withdrawn at once (%i)', async (round) => {
    await using team = await start();
    await team.askCreate();
    await team.manager.closes();
    const approve = () => team.owner.presses('Approve');
    const withdraw = () => team.manager.presses('Withdraw request');
    await Promise.all(round % 2 === 0 ? [approve(), withdraw()] : [withdraw(), approve()]);
    await team.manager.sees(/I've saved it|You withdrew your request/);
    const isWithdrawn = team.manager.screen().includes('You withdrew your request');
    if (team.charges() !== (isWithdrawn ? 0 : 1)) throw new Error('the money is not where the words are');
    await team.owner.sees(isWithdrawn ? 'Withdrawn by @mara' : 'Approved by @olga');
  });

  test('is denied with a reason, which the requester sees and the audit keeps', async ({ expect }) => {
    await using team = await start();
    await team.askCreate();
    await team.owner.presses('Deny with reason…');
    await team.owner.fills({ Reason: 'Wait for the release' });
    await team.owner.presses('Deny');
    await team.manager.sees('@olga declined: web-1 wasn’t created. Nothing was charged.');
    await team.manager.sees('Wait for the release');
    await team.owner.sees('Denied by @olga');
    const entries = await team.app.ports.audit.list({ workspaceId: TEAM.id, limit: 20 });
    const reason = entries.find(({ action }) => action === 'denial_reason');
    expect(reason).toMatchObject({ label: 'Wait for the release', outcome: 'done' });
    expect(entries.find(({ actId, code }) => actId === reason?.actId && code === 'denied')).toBeDefined();
    expect(team.creates()).toBe(0);
  });
});
