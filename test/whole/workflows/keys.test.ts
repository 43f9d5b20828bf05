import { expect, it } from 'vitest';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { movableSystem } from '../../support/clocks.ts';
import { changesSeen } from '../../support/raw-user.ts';
import { beginInOps, giveKey, runToEnd, startWorkflowTeam } from './support.ts';

it.concurrent('a workflow reboots a server with a key that an owner issued, until the key is revoked', async ({
  expect,
}) => {
  await using team = await startWorkflowTeam();
  const { owner } = team;
  await owner.types('/vps workflow');
  await owner.sees('No keys have been issued');
  await owner.presses('Issue a key…');
  await owner.sees('A workflow acts with this key without asking anyone');
  await owner.fills({ Name: 'nightly', Actions: 'Reboot', Servers: 'web-*', Expires: '30 days' });
  await owner.submits();
  await owner.sees('Copy it now');
  const secret = /vpswf_[\w-]{32}/.exec(owner.modal()?.shown ?? '')?.[0] ?? '';
  expect(secret).not.toBe('');
  await owner.closes();

  const channel = team.slack.channel('#ops')?.id ?? '';
  const run = await runToEnd(team, { key: secret, channel });
  expect(run).toMatchObject({ state: 'completed', outputs: { server: 'web-1' } });
  expect(run.outputs?.message).toMatch(/^web-1 (was rebooted|is rebooting)/);
  await team.viewer.sees('Workflow key nightly rebooted web-1');
  expect(changesSeen(team)).toHaveLength(1);

  await owner.types('/vps workflow');
  await owner.sees(/nightly: reboot on web-\* until .*\nIssued by @olga, .* · last used/);
  owner.doesNotSee(secret);
  await owner.presses('Revoke');
  await expect.poll(() => team.app.ports.workflowKeys.list(team.slack.team.id)).toEqual([]);
  const late = await runToEnd(team, { server: 'web-2', key: secret });
  expect(late).toMatchObject({ state: 'failed' });
  expect(late.error).toContain('isn’t valid in this workspace, or was revoked');
  expect(changesSeen(team)).toHaveLength(1);
  await owner.types('/vps audit');
  await owner.sees('@olga issued the workflow key nightly (reboot; web-*)');
  await owner.sees('The workflow (nightly) rebooted web-1');
  await owner.sees('@olga revoked the workflow key nightly (reboot; web-*)');
  await owner.sees('The workflow tried to reboot web-2 and was denied: the workflow key doesn’t permit it');
});

it.concurrent('only owners see, issue or revoke workflow keys', async () => {
  await using team = await startWorkflowTeam();
  const { id } = await giveKey(team);
  await team.manager.types('/vps workflow');
  await team.manager.sees('You need the owner role');
  team.manager.doesNotSee('nightly');
  await team.owner.types('/vps workflow');
  await team.owner.presses('Revoke');
  await team.owner.sees('No keys have been issued');
  const press = team.slack.lastDelivery('workflow_revoke');
  const again = await giveKey(team, { name: 'second' });
  await team.slack.deliverAltered(press, (payload) => ({
    ...payload,
    user: { id: USERS.mara.id, username: 'mara', name: 'mara', team_id: team.slack.team.id },
    actions: JSON.parse(JSON.stringify(payload.actions).replace(id, again.id)),
  }));
  await team.manager.types('/vps list');
  await team.manager.sees('web-1');
  expect(await team.app.ports.workflowKeys.find(team.slack.team.id, again.id)).toBeDefined();
});

it.concurrent('a workflow key for another workspace, other actions or other servers, or that has expired, does nothing', async () => {
  await using team = await startWorkflowTeam();
  for (const [name, keyOptions, inputs, words] of [
    ['elsewhere', { workspaceId: 'T0ELSEWHERE' }, {}, 'isn’t valid in this workspace'],
    ['old', { until: 1000 }, {}, 'The workflow key “old” has expired.'],
    ['reboot', {}, { action: 'stop' }, 'The workflow key “reboot” doesn’t allow “stop”.'],
    ['db', { pattern: 'db-*' }, {}, 'The workflow key “db” doesn’t cover web-1.'],
    // Also for a label that no server has.
    ['web', {}, { server: 'secret-1' }, 'doesn’t cover secret-1.'],
  ] as const) {
    const { secret } = await giveKey(team, { name, ...keyOptions });
    const run = await runToEnd(team, { ...inputs, key: secret });
    expect(run.state).toBe('failed');
    expect(run.error).toContain(words);
    const [entry] = await team.app.ports.audit.list({ workspaceId: team.slack.team.id, limit: 1 });
    expect(entry).toMatchObject({ surface: 'workflow', outcome: 'denied' });
  }
  expect(changesSeen(team)).toEqual([]);
});

it.concurrent('a workflow never guesses a server: not by the beginning of a label, another letter case, an ID or an address', async () => {
  await using team = await startWorkflowTeam(1);
  const { secret } = await giveKey(team, { pattern: '' });
  const [server] = team.hosting.seedServers(team.account, 1, 'db');
  const typed = ['web', 'WEB-1', String(server), 'db-1 '];
  const runs = [];
  for (const name of typed) runs.push(await runToEnd(team, { key: secret, server: name }));
  expect(runs.slice(0, 3).map(({ error }) => error)).toEqual([
    'No server has exactly the label web. Nothing was done.',
    'No server has exactly the label WEB-1. Nothing was done.',
    `No server has exactly the label ${server}. Nothing was done.`,
  ]);
  expect(runs[3]?.state).toBe('completed');
  expect(changesSeen(team)).toHaveLength(1);
});

it.concurrent('a workflow can’t stop a protected server, and can’t reboot one again and again', async () => {
  await using team = await startWorkflowTeam(1);
  const { secret } = await giveKey(team, { actions: ['stop', 'reboot'] });
  await team.owner.types('/vps show web-1');
  await team.owner.presses('Protect');
  await team.owner.sees('Protected by @olga');
  const stopped = await runToEnd(team, { key: secret, action: 'stop' });
  expect(stopped.error).toBe('web-1 wasn’t stopped: the server is protected.');
  await team.owner.presses('Lift protection');
  await team.owner.sees('lifted the protection');
  expect(await runToEnd(team, { key: secret })).toMatchObject({ state: 'completed' });
  const again = await runToEnd(team, { key: secret });
  expect(again.error).toBe('web-1 wasn’t rebooted: it may have been rebooted moments before.');
  for (let run = 0; run < 7; run++) await runToEnd(team, { key: secret });
  const reads = team.hosting.requests().length;
  const over = await runToEnd(team, { key: secret });
  expect(over.error).toContain('The limit of 10 runs a minute was reached. Nothing was done.');
  expect(team.hosting.requests().length).toBe(reads);
  expect(changesSeen(team)).toHaveLength(1);
});

it.concurrent('a workflow without a key asks in the channel, and the user who presses the button acts in their own name', async () => {
  await using team = await startWorkflowTeam(1, { hosting: { rebootDelayMs: 700 } });
  const run = await beginInOps(team);
  await team.operator.sees('A workflow wants to reboot web-1.');
  expect(run.state).toBe('running');
  expect(changesSeen(team)).toEqual([]);
  await team.operator.presses('Reboot');
  await run.ended;
  expect(run).toMatchObject({ state: 'completed', outputs: { server: 'web-1', state: 'rebooting' } });
  await team.operator.sees(/@otto rebooted web-1: 🟢 running \(\d+ s\)/);
  team.operator.doesNotSee('wants to reboot');
  expect(team.operator.messages()).toHaveLength(1);
  expect(changesSeen(team)).toHaveLength(1);
  const entries = await team.app.ports.audit.list({ workspaceId: TEAM.id, limit: 1 });
  expect(entries[0]).toMatchObject({ actorId: USERS.otto.id, surface: 'button', action: 'reboot' });
});

it.concurrent('a user without the role, or from another organization, can neither run nor cancel a workflow’s action', async ({
  expect,
}) => {
  await using team = await startWorkflowTeam(1);
  const run = await beginInOps(team);
  await team.viewer.presses('Reboot');
  await team.viewer.sees('You need the operator role');
  await team.viewer.presses('Cancel');
  await team.slack.deliverAltered(team.slack.lastDelivery('workflow_run'), (payload) => ({
    ...payload,
    user: { id: USERS.sam.id, username: 'sam', name: 'sam', team_id: USERS.sam.teamId },
  }));
  await expect
    .poll(() => team.app.ports.audit.list({ workspaceId: TEAM.id, actorId: USERS.sam.id, limit: 1 }))
    .toMatchObject([{ outcome: 'denied', code: 'other_organization' }]);
  await team.operator.sees('A workflow wants to reboot web-1.');
  expect(run.state).toBe('running');
  expect(changesSeen(team)).toEqual([]);
});

it.concurrent('a workflow’s reboot runs once, even if two users press at once and Slack delivers a press again', async ({
  expect,
}) => {
  await using team = await startWorkflowTeam(1);
  team.hosting.faults.add({ on: 'reboot', kind: 'slow', delayMs: 500 });
  const run = await beginInOps(team);
  const { operator, manager } = team;
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

it.concurrent('Cancel, or a day without a press, ends a workflow’s step without doing anything', async () => {
  const system = movableSystem();
  await using team = await startWorkflowTeam(1, { system });
  const canceled = await beginInOps(team);
  await team.operator.presses('Cancel');
  await canceled.ended;
  expect(canceled.error).toBe('Someone pressed Cancel. Nothing was done.');
  await team.operator.sees('@otto canceled a workflow’s reboot of web-1.');
  team.operator.overlooksOldMessages();
  const ignored = await beginInOps(team);
  await team.operator.sees('A workflow wants to reboot web-1.');
  system.move(25 * 3_600_000);
  await ignored.ended;
  expect(ignored.error).toBe('The button wasn’t pressed within a day. Nothing was done.');
  expect(changesSeen(team)).toEqual([]);
});

it.concurrent('a press ends a workflow’s step if the server doesn’t exist, and leaves it open if the server is protected', async () => {
  await using team = await startWorkflowTeam(1);
  const unknown = await beginInOps(team, { server: 'web-9' });
  const { owner } = team;
  await owner.presses('Reboot');
  await unknown.ended;
  expect(unknown.error).toBe('No server has exactly the label web-9. Nothing was done.');
  await owner.types('/vps show web-1');
  await owner.presses('Protect');
  await owner.sees('Protected by @olga');
  owner.overlooksOldMessages();
  const run = await beginInOps(team);
  await owner.sees('A workflow wants to reboot web-1.');
  await owner.presses('Reboot');
  await owner.sees('web-1 is protected');
  expect(run.state).toBe('running');
  expect(changesSeen(team)).toEqual([]);
});

it.concurrent('a workflow’s step posts and announces nothing in a channel that another organization shares, or that the app is not in', async () => {
  await using team = await startWorkflowTeam(1);
  const idOf = (name: string) => team.slack.channel(name)?.id ?? '';
  for (const name of ['#acme-shared', '#management']) {
    const run = await beginInOps(team, { channel: idOf(name) });
    await run.ended;
    expect(run.error).toContain('The message with the button couldn’t be posted in the channel');
  }
  const { secret } = await giveKey(team);
  const run = await beginInOps(team, { key: secret, channel: idOf('#acme-shared') });
  await run.ended;
  expect(run.state).toBe('completed');
  team.slack.as('sam').in('#acme-shared').doesNotSee('web-1');
});
