import { expect, it } from 'vitest';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { movableSystem } from '../../support/movable-system.ts';
import { changesSeen } from '../../support/raw-user.ts';
import type { Team } from '../../support/team.ts';
import { giveKey, STEP, startWorkflowTeam } from './support.ts';

const ask = (team: Team, inputs: Readonly<Record<string, string>> = {}) =>
  team.slack.runsWorkflow(STEP, {
    action: 'reboot',
    server: 'web-1',
    channel: team.slack.channel('#ops')?.id ?? '',
    ...inputs,
  });

it('a workflow without a key asks in the channel, and the user who presses the button acts in their own name', async () => {
  await using team = await startWorkflowTeam(1, { hosting: { rebootDelayMs: 700 } });
  const run = await ask(team);
  const operator = team.slack.as('otto').in('#ops');
  await operator.sees('A workflow wants to reboot web-1.');
  expect(run.state).toBe('running');
  expect(changesSeen(team)).toEqual([]);
  await operator.presses('Reboot');
  await run.ended;
  expect(run).toMatchObject({ state: 'completed', outputs: { server: 'web-1', state: 'rebooting' } });
  await operator.sees(/@otto rebooted web-1: 🟢 running \(\d+ s\)/);
  operator.doesNotSee('wants to reboot');
  expect(operator.messages()).toHaveLength(1);
  expect(changesSeen(team)).toHaveLength(1);
  const entries = await team.app.ports.audit.list({ workspaceId: TEAM.id, limit: 1 });
  expect(entries[0]).toMatchObject({ actorId: USERS.otto.id, surface: 'button', action: 'reboot' });
  expect(team.slack.brokenRules()).toEqual([]);
});

it('a user without the role, or from another organization, can neither run nor cancel a workflow’s action', async () => {
  await using team = await startWorkflowTeam(1);
  const run = await ask(team);
  const viewer = team.slack.as('vera').in('#ops');
  await viewer.presses('Reboot');
  await viewer.sees('You need the operator role');
  await viewer.presses('Cancel');
  const press = team.slack.deliveries().findLast(({ body }) => body.includes('workflow_run'));
  if (!press) throw new Error('no press');
  await team.slack.deliverAltered(press, (payload) => ({
    ...payload,
    user: { id: USERS.sam.id, username: 'sam', name: 'sam', team_id: USERS.sam.teamId },
  }));
  await expect
    .poll(() => team.app.ports.audit.list({ workspaceId: TEAM.id, actorId: USERS.sam.id, limit: 1 }))
    .toMatchObject([{ outcome: 'denied', code: 'other_organization' }]);
  await team.slack.as('otto').in('#ops').sees('A workflow wants to reboot web-1.');
  expect(run.state).toBe('running');
  expect(changesSeen(team)).toEqual([]);
});

it('a workflow’s reboot runs once, even if two users press at once and Slack delivers a press again', async () => {
  await using team = await startWorkflowTeam(1);
  team.hosting.faults.add({ on: 'reboot', kind: 'slow', delayMs: 500 });
  const run = await ask(team);
  const operator = team.slack.as('otto').in('#ops');
  const manager = team.slack.as('mara').in('#ops');
  await Promise.all([operator.presses('Reboot'), manager.presses('Reboot')]);
  await run.ended;
  const presses = team.slack.deliveries().filter(({ body }) => body.includes('workflow_run'));
  for (const press of presses) await team.slack.redeliver(press);
  await expect
    .poll(() => `${operator.screen()}${manager.screen()}`)
    .toContain('This request was already answered or has expired. Nothing was done.');
  expect(changesSeen(team)).toHaveLength(1);
  expect(run.state).toBe('completed');
});

it('Cancel, or a day without a press, ends a workflow’s step without doing anything', async () => {
  const system = movableSystem();
  await using team = await startWorkflowTeam(1, { system });
  const canceled = await ask(team);
  const operator = team.slack.as('otto').in('#ops');
  await operator.presses('Cancel');
  await canceled.ended;
  expect(canceled.error).toBe('Someone pressed Cancel. Nothing was done.');
  await operator.sees('@otto canceled a workflow’s reboot of web-1.');
  const ignored = await ask(team);
  await operator.sees('A workflow wants to reboot web-1.');
  system.move(25 * 3_600_000);
  await ignored.ended;
  expect(ignored.error).toBe('The button wasn’t pressed within a day. Nothing was done.');
  expect(changesSeen(team)).toEqual([]);
});

it('a press ends a workflow’s step if the server doesn’t exist, and leaves it open if the server is protected', async () => {
  await using team = await startWorkflowTeam(1);
  const unknown = await ask(team, { server: 'web-9' });
  const owner = team.slack.as('olga').in('#ops');
  await owner.presses('Reboot');
  await unknown.ended;
  expect(unknown.error).toBe('No server has exactly the label web-9. Nothing was done.');
  await owner.types('/vps show web-1');
  await owner.presses('Protect');
  await owner.sees('Protected by @olga');
  owner.overlooksOldMessages();
  const run = await ask(team);
  await owner.sees('A workflow wants to reboot web-1.');
  await owner.presses('Reboot');
  await owner.sees('web-1 is protected');
  expect(run.state).toBe('running');
  expect(changesSeen(team)).toEqual([]);
});

it.each([
  ['that another organization shares', '#acme-shared'],
  ['that the app is not in', '#management'],
])('a workflow’s step fails, and posts nothing, in a channel %s', async (_name, channel) => {
  await using team = await startWorkflowTeam(1);
  const run = await ask(team, { channel: team.slack.channel(channel)?.id ?? '' });
  await run.ended;
  expect(run.error).toContain('The message with the button couldn’t be posted in the channel');
  expect(team.slack.brokenRules()).toEqual([]);
});

it('what a workflow key did is not announced in a shared channel', async () => {
  await using team = await startWorkflowTeam(1);
  const { secret } = await giveKey(team);
  const run = await ask(team, { key: secret, channel: team.slack.channel('#acme-shared')?.id ?? '' });
  await run.ended;
  expect(run.state).toBe('completed');
  team.slack.as('sam').in('#acme-shared').doesNotSee('web-1');
});
