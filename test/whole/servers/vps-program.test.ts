import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { commandLineOf } from '../../../src/core/roles.ts';
import { Secret } from '../../../src/core/secret.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { ENGINES } from '../../support/postgres.ts';
import { hasTerminal, runProgram, startOnTerminal } from '../../support/programs.ts';
import { changesSeen } from '../../support/raw-user.ts';
import { ENCRYPTION_KEY, startTeam, type Team } from '../../support/team.ts';

const run = (team: Team, ...args: readonly string[]) => runProgram(['vps', ...args], team.environment);

/** The same on a terminal, where this is typed. */
async function runOnTerminal({ environment }: Team, input: string, ...args: readonly string[]) {
  await using vps = startOnTerminal(['cli/main.js vps', ...args].join(' '), environment);
  vps.type(input);
  const code = await vps.ended;
  return { code, output: vps.screen() };
}

if (!hasTerminal) process.stderr.write('No tests on a terminal: script (util-linux) is missing\n');
const ME = userInfo().username;

test.each(
  ENGINES,
)('npm run vps lists, shows and reboots beside a running app (%s), and the audit names the system’s user', async (engine) => {
  await using team = await startTeam({ engine, hosting: { rebootDelayMs: 700 } });
  const [id = 0] = team.hosting.seedServers(team.account, 2, 'web');
  const listed = await run(team, 'list');
  expect(listed).toMatchObject({ code: 0, words: '' });
  expect(listed.output).toMatch(/^ID +LABEL +STATE +IPV4 +PAID UNTIL\n\d+ +web-1 +running +[\d.]+ +20\d\d-/);
  expect((await run(team, 'show', 'WEB–1.')).output).toContain(`ID          ${id}`);
  const rebooted = await run(team, 'reboot', 'web-1', '--yes');
  expect(rebooted.words).toBe('The hosting API accepted the request: rebooting web-1…\n');
  expect(rebooted.output).toMatch(/^web-1 was rebooted: running \(reported by the API after \d+ s\)\n$/);
  expect(rebooted.code).toBe(0);
  expect(changesSeen(team)).toHaveLength(1);
  const entries = await team.app.ports.audit.list({ workspaceId: TEAM.id, server: String(id), limit: 10 });
  expect(entries.map(({ outcome, surface, actorId }) => [outcome, surface, actorId])).toEqual([
    ['done', 'cli', commandLineOf(ME)],
    ['started', 'cli', commandLineOf(ME)],
  ]);
  await team.owner.types('/vps audit');
  await team.owner.sees(`The command line (${ME}) rebooted web-1`);
  await team.owner.types('/vps reboot web-1');
  await team.owner.sees(/web-1 was rebooted \d+ s ago by the command line \(.+\)\. Reboot it again\?/);
  for (const { output, words } of [listed, rebooted])
    for (const secret of [team.apiKey, ENCRYPTION_KEY]) expect(output + words).not.toContain(secret);
});

test('npm run vps counts its requests toward the limit that it shares with the app', async () => {
  await using team = await startTeam();
  const { apiCalls } = team.app.ports;
  const { account } = team.app.ports.hostingOf(new Secret(team.apiKey), TEAM.id);
  expect(await apiCalls.listTaken(TEAM.id)).toEqual([]);
  await run(team, 'list');
  const requests = team.hosting.requests().length;
  expect(requests).toBeGreaterThan(0);
  expect(await apiCalls.listTaken(TEAM.id)).toHaveLength(requests);
  expect(await apiCalls.listTaken(account[0])).toHaveLength(requests);
});

test.skipIf(!hasTerminal)(
  'npm run vps asks for confirmation on a terminal, and does nothing without a yes',
  async () => {
    await using team = await startTeam({ servers: 1 });
    const refused = await runOnTerminal(team, 'n\n', 'stop', 'we');
    expect(refused.output).toContain('Stop web-1 (running)? [y/N]');
    expect(refused.output).toContain('Nothing was changed.');
    expect(refused.code).toBe(1);
    expect(changesSeen(team)).toEqual([]);
    const stopped = await runOnTerminal(team, 'y\n', 'stop', 'we');
    expect(stopped.output).toContain('web-1 was stopped: stopped');
    expect(stopped.code).toBe(0);
  },
);

test('npm run vps needs --yes without a terminal, which allows neither half a name nor a second reboot', async () => {
  await using team = await startTeam({ servers: 1 });
  const unasked = await run(team, 'reboot', 'web-1');
  expect(unasked).toMatchObject({ code: 2, words: expect.stringContaining('Add --yes') });
  const half = await run(team, 'reboot', 'we', '--yes');
  expect(half).toMatchObject({ code: 1, words: expect.stringContaining('only the beginning of web-1') });
  expect(changesSeen(team)).toEqual([]);
  expect((await run(team, 'reboot', 'web-1', '--yes')).code).toBe(0);
  const again = await run(team, 'reboot', 'web-1', '--yes');
  expect(again.code).toBe(1);
  expect(again.words).toMatch(
    /web-1 was rebooted \d+ s ago by the command line \(.+\)\. Reboot it again\? Nothing was changed\. To reboot it again, add --again\./,
  );
  expect(changesSeen(team)).toHaveLength(1);
  team.hosting.faults.add({ on: 'reboot', kind: 'lost_after' });
  expect((await run(team, 'reboot', 'web-1', '--yes', '--again')).code).toBe(3);
  expect((await run(team, 'reboot', 'web-1', '--yes')).words).toMatch(
    /web-1 may have been rebooted \d+ s ago by the command line \(.+\) \(not confirmed\)\. Reboot it again\?/,
  );
  expect(changesSeen(team)).toHaveLength(2);
});

test('npm run vps --json prints JSON, and every outcome has an exit code', async () => {
  await using team = await startTeam();
  const [id] = team.hosting.seedServers(team.account, 2, 'web');
  expect(JSON.parse((await run(team, 'list', 'web-1', '--json')).output)).toEqual([
    {
      id,
      label: 'web-1',
      state: 'running',
      ipv4: expect.any(String),
      paidUntil: expect.stringMatching(/Z$/),
    },
  ]);
  const done = await run(team, 'stop', 'web-1', '--yes', '--json');
  expect(JSON.parse(done.output)).toEqual({
    id,
    label: 'web-1',
    action: 'stop',
    outcome: 'done',
    state: 'stopped',
  });
  team.hosting.faults.add({ on: 'start', kind: 'lost_after' });
  const lost = await run(team, 'start', 'web-1', '--yes', '--json');
  expect(lost).toMatchObject({
    code: 3,
    words: expect.stringContaining("We're not sure whether web-1 was started"),
  });
  expect(JSON.parse(lost.output)).toMatchObject({ outcome: 'unconfirmed' });
  const protection = { serverId: id ?? 0, protectedBy: USERS.olga.id };
  await team.app.ports.serverNotes.put('protection', TEAM.id, protection);
  const held = await run(team, 'stop', 'web-1', '--yes');
  expect(held).toMatchObject({ code: 1, output: '', words: expect.stringContaining('is protected by U') });
  const unknown = await run(team, 'show', 'wbe-2');
  expect(unknown).toMatchObject({
    code: 1,
    words: 'No server matches wbe-2. Did you mean web-2?\n',
  });
  const several = await run(team, 'stop', 'web', '--yes');
  expect(several.code).toBe(1);
  expect(several.words).toMatch(/^2 servers match "web"\. Nothing was changed\. Use an ID:\nID +LABEL/);
});
