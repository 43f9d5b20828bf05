import { dirname } from 'node:path';
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { movableSystem } from '../../support/clocks.ts';
import { readBytes } from '../../support/invariants.ts';
import { changesSeen } from '../../support/raw-user.ts';
import type { Team } from '../../support/team.ts';
import { begin, beginInOps, giveKey, runToEnd, startWorkflowTeam } from './support.ts';

/** Until another process looks at a run. */
const LATER_MS = 20_000;

it.concurrent('a workflow’s step that Slack delivers again and again is carried out once', async () => {
  await using team = await startWorkflowTeam(2);
  const { secret } = await giveKey(team);
  team.slack.app.eventRetryDelaysMs = [0, 50, 50];
  team.slack.faults.repeatEvents(1);
  const run = await runToEnd(team, { key: secret });
  const event = team.slack.lastDelivery('function_executed');
  await Promise.all([1, 2, 3].map(() => team.slack.redeliver(event)));
  expect((await runToEnd(team, { key: secret, server: 'web-2' })).state).toBe('completed');
  expect(run.state).toBe('completed');
  expect(changesSeen(team)).toHaveLength(2);
  const ends = team.slack.traffic().filter(({ what }) => what.startsWith('functions.'));
  expect(ends).toHaveLength(2);
});

it.concurrent('a workflow’s step that Slack delivers minutes late is not carried out', async ({ expect }) => {
  await using team = await startWorkflowTeam(2);
  const { secret } = await giveKey(team);
  await runToEnd(team, { key: secret });
  const event = team.slack.lastDelivery('function_executed');
  const fails = () => team.slack.traffic().filter(({ what }) => what === 'functions.completeError').length;
  const late = Math.floor(Date.now() / 1000) - 180;
  const body = event.body
    .replace(/"event_time":\d+/, `"event_time":${late}`)
    .replace('"server":"web-1"', '"server":"web-2"')
    .replace(/"function_execution_id":"[^"]+"/, '"function_execution_id":"Fx0LATE"');
  await team.slack.deliverBody('json', body);
  await expect.poll(fails).toBeGreaterThan(0);
  expect(changesSeen(team)).toHaveLength(1);
});

it.concurrent('a workflow’s step is acknowledged at once, however slow the hosting API is', async () => {
  await using team = await startWorkflowTeam(1);
  const { secret } = await giveKey(team);
  team.hosting.faults.add({ on: 'servers', kind: 'slow', delayMs: 1500 });
  const run = await begin(team, { key: secret });
  expect(run.state).toBe('running');
  await run.ended;
  expect(run.state).toBe('completed');
});

it.concurrent('a step’s outcome is sent with the run’s token if Slack accepts no other, and with the app’s own if that has expired', async () => {
  await using team = await startWorkflowTeam(2);
  const { secret } = await giveKey(team);
  team.slack.faults.refusesBotTokens = true;
  expect((await runToEnd(team, { key: secret })).state).toBe('completed');
  team.slack.faults.clear();
  team.slack.faults.endsRunTokens = true;
  expect((await runToEnd(team, { key: secret, server: 'web-2' })).state).toBe('completed');
});

it.concurrent('a step’s outcome that Slack refuses is sent again later, without repeating the action', async ({
  expect,
}) => {
  const system = movableSystem();
  await using team = await startWorkflowTeam(1, { system });
  const { secret } = await giveKey(team);
  team.slack.faults.failMethod('functions.completeSuccess', 'internal_error', 2);
  const run = await begin(team, { key: secret });
  const tries = () => team.slack.traffic().filter(({ what }) => what === 'functions.completeSuccess').length;
  await expect.poll(tries).toBe(2);
  expect(run.state).toBe('running');
  system.move(LATER_MS);
  await run.ended;
  expect(run.state).toBe('completed');
  expect(changesSeen(team)).toHaveLength(1);
});

it.concurrent('a workflow’s reboot whose answer is lost is reported as unconfirmed, in the step and in the channel, and keeps nobody from rebooting the server', async () => {
  await using team = await startWorkflowTeam(1);
  const { secret } = await giveKey(team);
  team.hosting.faults.add({ on: 'reboot', kind: 'lost_after' });
  const run = await runToEnd(team, { key: secret, channel: team.slack.channel('#ops')?.id ?? '' });
  expect(run.error).toContain('We’re not sure whether web-1 was rebooted');
  await team.viewer.sees('We’re not sure whether web-1 was rebooted');
  const operator = team.slack.as('otto').overlooksOldMessages();
  await operator.types('/vps reboot web-1');
  await operator.sees(/Reboot it again\?/);
  await operator.presses('Reboot again');
  await operator.sees('@otto rebooted web-1');
  expect(changesSeen(team)).toHaveLength(2);
});

/** The process dies after it has done this, or before it does anything. */
function dieAt<Name extends 'send' | 'isWithinLimit' | 'ask'>(
  team: Team,
  name: Name,
  how: 'before' | 'after',
) {
  const { workflowRuns } = team.app.ports;
  const work: (...given: never[]) => Promise<unknown> = workflowRuns[name];
  let deaths = 0;
  Object.assign(workflowRuns, {
    [name]: async (...given: never[]) => {
      if (deaths++ > 0) return work(...given);
      if (how === 'after') await work(...given);
      throw new Error('killed');
    },
  });
  return { count: () => deaths };
}

it.concurrent.each([
  ['workflow’s action', true],
  ['press', false],
])('a %s that was marked as sent before a crash is never sent again, and is reported as unknown, also in its channel', async (_what, hasKey) => {
  const system = movableSystem();
  await using team = await startWorkflowTeam(1, { system });
  const { secret } = await giveKey(team);
  const death = dieAt(team, 'send', 'after');
  const run = await beginInOps(team, hasKey ? { key: secret } : {});
  if (!hasKey) await team.operator.presses('Reboot');
  await expect.poll(death.count).toBe(1);
  system.move(LATER_MS);
  await run.ended;
  expect(run.error).toBe(
    'We don’t know whether web-1 was rebooted: the app stopped before the outcome was known. Check its state before you run this again.',
  );
  await team.viewer.sees('We don’t know whether web-1 was rebooted');
  expect(changesSeen(team)).toEqual([]);
});

it.concurrent('a workflow’s step that was received before a crash fails if minutes have passed', async ({
  expect,
}) => {
  const system = movableSystem();
  await using team = await startWorkflowTeam(1, { system });
  const { secret } = await giveKey(team);
  const death = dieAt(team, 'isWithinLimit', 'before');
  const run = await begin(team, { key: secret });
  await expect.poll(death.count).toBe(1);
  system.move(3 * 60_000);
  await run.ended;
  expect(run.error).toMatch(/^This step couldn’t be started in time\. Nothing was done\./);
  expect(changesSeen(team)).toEqual([]);
});

it.concurrent('a crash while a workflow’s card is posted leads to at most two cards, of which one can act', async ({
  expect,
}) => {
  const system = movableSystem();
  await using team = await startWorkflowTeam(1, { system });
  const death = dieAt(team, 'ask', 'before');
  const run = await beginInOps(team);
  await expect.poll(death.count).toBe(1);
  system.move(LATER_MS);
  await expect.poll(() => team.operator.messages().length).toBe(2);
  await team.operator.presses('Reboot');
  await run.ended;
  await team.operator.presses('Reboot');
  await team.operator.sees('This request was already answered or has expired.');
  expect(changesSeen(team)).toHaveLength(1);
});

it.concurrent('workflow keys and tokens are never logged, audited or stored in plain text', async () => {
  const lines: string[] = [];
  const write = (words: string, fields: unknown = {}) => void lines.push(`${words} ${inspect(fields)}`);
  const log = { debug: write, info: write, warn: write, error: write };
  await using team = await startWorkflowTeam(1, { log, engine: 'sqlite' });
  const { secret } = await giveKey(team);
  const run = await runToEnd(team, { key: secret });
  await runToEnd(team, { key: 'vpswf_a-wrong-one-that-is-a-canary' });
  const stored = await readBytes(dirname(team.environment.DATABASE_URL?.replace('sqlite:', '') ?? ''));
  for (const canary of [secret, 'canary', run.token]) {
    expect([...lines, stored].join('\n')).not.toContain(canary);
  }
  expect(team.slack.traffic().map(({ request }) => request)).not.toContainEqual(
    expect.stringContaining(run.token),
  );
});
