import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { changesSeen } from '../../support/visitor.ts';
import { giveKey, runToEnd, STEP, startWorkflowTeam } from './support.ts';

it('an event that Slack delivers again and again is carried out once', async () => {
  await using team = await startWorkflowTeam(2);
  const { secret } = await giveKey(team);
  team.slack.app.eventRetryDelaysMs = [0, 50, 50];
  team.slack.faults.repeatEvents(1);
  const run = await runToEnd(team, { key: secret });
  const event = team.slack.deliveries().find(({ body }) => body.includes('function_executed'));
  if (!event) throw new Error('no event');
  await Promise.all([1, 2, 3].map(() => team.slack.redeliver(event)));
  expect((await runToEnd(team, { key: secret, server: 'web-2' })).state).toBe('completed');
  expect(run.state).toBe('completed');
  expect(changesSeen(team)).toHaveLength(2);
  const ends = team.slack.traffic().filter(({ what }) => what.startsWith('functions.'));
  expect(ends).toHaveLength(2);
});

it('Slack gets its ack at once, however slow the hosting API is', async () => {
  await using team = await startWorkflowTeam(1);
  const { secret } = await giveKey(team);
  team.hosting.faults.add({ on: 'servers', kind: 'slow', delayMs: 1500 });
  const run = await team.slack.runsWorkflow(STEP, { action: 'reboot', server: 'web-1', key: secret });
  expect(run.state).toBe('running');
  await run.ended;
  expect(run.state).toBe('completed');
  expect(team.slack.brokenLaws()).toEqual([]);
});

it('the outcome reaches Slack by the app’s own token where that of the run has ended', async () => {
  await using team = await startWorkflowTeam(1);
  const { secret } = await giveKey(team);
  team.slack.faults.endRunTokens();
  expect((await runToEnd(team, { key: secret })).state).toBe('completed');
});

it('and by the run’s token where Slack takes no other', async () => {
  await using team = await startWorkflowTeam(1);
  const { secret } = await giveKey(team);
  team.slack.faults.refuseBotTokensForRuns();
  expect((await runToEnd(team, { key: secret })).state).toBe('completed');
});

it('an outcome that Slack doesn’t take is told later, and nothing is done again', async () => {
  await using team = await startWorkflowTeam(1);
  const { secret } = await giveKey(team);
  team.slack.faults.failMethod('functions.completeSuccess', 'internal_error', 3);
  expect((await runToEnd(team, { key: secret })).state).toBe('completed');
  expect(changesSeen(team)).toHaveLength(1);
});

it('outputs that Slack refuses fail the step, with what was done', async () => {
  await using team = await startWorkflowTeam(1);
  const { secret } = await giveKey(team);
  team.slack.faults.failMethod('functions.completeSuccess', 'parameter_validation_failed');
  const run = await runToEnd(team, { key: secret });
  expect(run.error).toMatch(/^web-1 (was rebooted|is rebooting).*manifest in Slack is out of date\.$/);
});

it('an answer that proves nothing is told as such, in the step and in the channel', async () => {
  await using team = await startWorkflowTeam(1);
  const { secret } = await giveKey(team);
  team.hosting.faults.add({ on: 'reboot', kind: 'lost_after' });
  const run = await runToEnd(team, { key: secret, channel: team.slack.channel('#ops')?.id ?? '' });
  expect(run.error).toContain('We’re not sure whether web-1 was rebooted');
  await team.slack.as('vera').in('#ops').sees('We’re not sure whether web-1 was rebooted');
});

it('a run that was stored as sent when the app died is never sent again, and said to be unknown', async () => {
  await using team = await startWorkflowTeam(1);
  const { secret, id } = await giveKey(team);
  const { workflowRuns } = team.app.ports;
  // The app dies between its note that it sends and the request.
  const { send } = workflowRuns;
  Object.assign(workflowRuns, {
    send: async (...given: Parameters<typeof send>) => {
      await send(...given);
      return new Promise(() => undefined);
    },
  });
  const run = await team.slack.runsWorkflow(STEP, { action: 'reboot', server: 'web-1', key: secret });
  await expect
    .poll(async () => (await team.app.ports.workflowKeys.find(TEAM.id, id))?.lastUsedAt)
    .toBeGreaterThan(0);
  await team.restart();
  await run.ended;
  expect(run.error).toBe(
    'We don’t know whether web-1 was rebooted: the app stopped while it was being done. Check its state before you run this again.',
  );
  expect(changesSeen(team)).toEqual([]);
});

it('a run that was only received when the app died is carried out by the next one', async () => {
  await using team = await startWorkflowTeam(1);
  const { secret } = await giveKey(team);
  const { workflowRuns } = team.app.ports;
  Object.assign(workflowRuns, { admit: () => new Promise(() => undefined) });
  const run = await team.slack.runsWorkflow(STEP, { action: 'reboot', server: 'web-1', key: secret });
  await team.restart();
  await run.ended;
  expect(run.state).toBe('completed');
  expect(changesSeen(team)).toHaveLength(1);
});

it('keys and tokens are in no log, in no audit and nowhere in the database in the clear', async () => {
  const lines: string[] = [];
  const write = (words: string, fields: unknown = {}) => void lines.push(`${words} ${inspect(fields)}`);
  const log = { debug: write, info: write, warn: write, error: write };
  await using team = await startWorkflowTeam(1, { log });
  const { secret } = await giveKey(team);
  const run = await runToEnd(team, { key: secret });
  await runToEnd(team, { key: 'vpswf_a-wrong-one-that-is-a-canary' });
  const folder = join(team.environment.DATABASE_URL?.slice('sqlite:'.length) ?? '', '..');
  const stored = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
  for (const canary of [secret, 'canary', run.token]) {
    expect([...lines, ...stored].join('\n')).not.toContain(canary);
  }
  expect(
    team.slack
      .traffic()
      .map(({ request }) => request)
      .join(),
  ).not.toContain(run.token);
});
