import { describe, expect, test } from 'vitest';
import { TEAM } from '../../src/sandbox/slack/workspace.ts';
import { createServer, passwordOf } from '../support/acts.ts';
import { startProcess } from '../support/killable-team.ts';
import { ENGINES } from '../support/postgres.ts';
import { hasTerminal, runProgram, startOnTerminal } from '../support/programs.ts';
import { queryDatabase } from '../support/query-database.ts';
import { startTeam, type Team } from '../support/team.ts';

const onTerminal = describe.skipIf(!hasTerminal);

const runKey = (args: readonly string[], settings: Readonly<Record<string, string>> = {}, input = '') =>
  runProgram(['key', ...args], settings, { input });

/** Runs the app where it doesn't start. */
const runApp = (settings: Readonly<Record<string, string>>) =>
  runProgram([], settings, { program: 'main.js' });

/** What the command line did, in order. */
async function auditOf(team: Team): Promise<readonly string[]> {
  const entries = await team.app.ports.audit.list({
    workspaceId: TEAM.id,
    actorId: 'command line',
    limit: 50,
  });
  expect(new Set(entries.map(({ surface }) => surface))).toEqual(new Set(['cli']));
  return entries.map(({ action, outcome }) => `${action} ${outcome}`).reverse();
}

describe.concurrent('npm start', () => {
  test('without settings names every missing one at once, each with an example, and exits with 1', async () => {
    const { code, all: output } = await runApp({});
    expect(code).toBe(1);
    for (const name of ['HOSTING_BASE_URL', 'SLACK_BOT_TOKEN', 'ENCRYPTION_KEYS']) {
      expect(output).toMatch(new RegExp(`${name} is missing, for example: ${name}=`));
    }
    expect(output).toMatch(
      /SLACK_APP_TOKEN .* or SLACK_SIGNING_SECRET .* is missing, for example: SLACK_APP_TOKEN=xapp-/,
    );
    expect(output).not.toMatch(/\n\s+at /);
  });

  test('on a port in use is explained in a sentence', async () => {
    await using team = await startTeam();
    const { port } = team.app;
    const settings = { ...team.environment, PORT: String(port), DATABASE_URL: 'sqlite::memory:' };
    const { code, all: output } = await runApp(settings);
    expect(code).toBe(1);
    expect(output).toContain(`Port ${port} is in use`);
    expect(output).not.toMatch(/\n\s+at /);
  });

  test('twice on one SQLite database is refused with a sentence', async () => {
    await using team = await startTeam({ engine: 'sqlite' });
    const { code, all: output } = await runApp({ ...team.environment });
    expect(code).toBe(1);
    expect(output).toContain('in use by another process');
  });

  test('is not ready while Slack rejects the token, and /readyz says so', async () => {
    await using team = await startTeam({ exempt: { slackRulesKept: 'its token is wrong' } });
    const settings = { ...team.environment, SLACK_BOT_TOKEN: 'xoxb-wrong', DATABASE_URL: 'sqlite::memory:' };
    await using app = await startProcess(settings);
    expect(app.output()).not.toContain('"msg":"ready"');
    expect(app.output()).toMatch(
      /"missing":"Slack rejected SLACK_BOT_TOKEN[^"]*","msg":"started, but not ready"/,
    );
    const ready = await fetch(`${app.url}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.text()).toContain('SLACK_BOT_TOKEN');
    expect((await fetch(`${app.url}/livez`)).status).toBe(200);
  });
});

/** What the schema of another release says of itself, and what this one says then. */
const OTHER_RELEASES = [
  ['0001-first-tables', /an earlier version of the app, .+ set DATABASE_URL to an empty database\./],
  [
    '9999-from-the-future',
    /newer version of the app \(it has "9999-from-the-future"\).+Start that version\./,
  ],
] as const;

test.each(
  ENGINES,
)('the database of a stopped app, on %s, is refused in a sentence and left alone where another release made it, and else taken up as it was', async (engine) => {
  await using team = await startTeam({ engine });
  const { manager } = team;
  await createServer(manager);
  const { DATABASE_URL = '' } = team.environment;
  const rename = (name: string) =>
    queryDatabase(DATABASE_URL, `update kysely_migration set name = '${name}' returning name`);
  const readAll = async () => {
    const tables = ['operations', 'passwords', 'audit', 'grants', 'jobs', 'facts'];
    return Promise.all(
      tables.map((table) => queryDatabase(DATABASE_URL, `select * from ${table} order by 1, 2`)),
    );
  };
  await team.restart(async () => {
    const before = await readAll();
    const [present] = await queryDatabase(DATABASE_URL, 'select name from kysely_migration');
    for (const [name, words] of OTHER_RELEASES) {
      await rename(name);
      const { code, all: output } = await runApp(team.environment);
      expect([code, output.match(words)?.length ?? output]).toEqual([1, 1]);
      expect(await readAll()).toEqual(before);
    }
    await rename(String(present?.name));
  });
  manager.overlooksOldMessages();
  await manager.types('/vps password web-1');
  await manager.sees(passwordOf(team));
  expect(await team.app.ports.audit.verify(TEAM.id)).toMatchObject({ ok: true });
  expect(team.hosting.charges(team.account)).toHaveLength(1);
});

onTerminal('npm start on a terminal', () => {
  test('says in sentences what the app is connected to and what to do next', async ({ expect }) => {
    await using team = await startTeam({ isConnected: false });
    const settings = { ...team.environment, DATABASE_URL: 'sqlite::memory:', PROT: '1' };
    await using app = startOnTerminal('main.js', settings);
    await expect.poll(app.screen).toMatch(/Next: .+\n/);
    const [misspelled, ready, next, ...rest] = app.screen().trim().split('\n');
    expect(misspelled).toBe('PROT is not a setting: did you mean PORT?');
    expect(ready).toMatch(
      /^Ready\. Connected to the Slack workspace Sandbox (in Socket Mode|over HTTP at \S+\/slack\/events), with the database :memory:\.$/,
    );
    expect([next, ...rest]).toEqual(['Next: run /vps connect in Slack.']);
    app.type('\u0003');
    expect(await app.ended).toBe(0);
    expect(app.screen()).toContain('Stopping (signal SIGINT).');
  });
});

describe.concurrent('npm run key', () => {
  test('tests and stores a key beside a running app, which uses it at once, and can remove it', async () => {
    await using team = await startTeam({ isConnected: false });
    const settings = { ...team.environment };
    const wanted = ['--workspace', TEAM.id];
    const { owner } = team;
    await owner.types('/vps list');
    await owner.sees('No hosting account is connected');

    const wrong = await runKey(['set', ...wanted], settings, 'not-the-key\n');
    expect(wrong).toMatchObject({ code: 1, all: expect.stringContaining('rejected this key') });
    const kept = await runKey(['set', ...wanted], settings, `${team.apiKey}\n`);
    expect(kept).toMatchObject({ code: 0, all: expect.stringContaining('works and is stored') });
    expect(kept.all).not.toContain(team.apiKey);
    await owner.types('/vps list');
    await owner.sees('There are no servers');

    expect((await runKey(['list'], settings)).all).toContain(TEAM.id);
    expect(await auditOf(team)).toEqual([
      'connect started',
      'connect failed',
      'connect started',
      'connect done',
    ]);
    expect((await runKey(['remove', ...wanted], settings)).all).toContain('was removed');
    owner.overlooksOldMessages();
    await owner.types('/vps list');
    await owner.sees('No hosting account is connected');
  });

  test('needs no --workspace if there is only one, and names them if there are several', async () => {
    await using team = await startTeam({ isConnected: false });
    const { environment, apiKey, app } = team;
    const kept = await runKey(['set'], { ...environment }, `${apiKey}\n`);
    expect(kept).toMatchObject({
      code: 0,
      all: expect.stringContaining(`Workspace ${TEAM.id} is connected`),
    });
    await app.ports.workspaces.put({ id: 'T0OTHER001', name: 'Other' });
    const which = await runKey(['remove'], { ...environment });
    expect(which).toMatchObject({
      code: 2,
      all: expect.stringMatching(
        /^Which workspace\? Add --workspace and one of .*T0OTHER001.*\.\n\nUsage:\n/,
      ),
    });
  });
});

onTerminal('npm run key on a terminal', () => {
  test('asks for the key, does not show it, and takes Enter', async ({ expect }) => {
    await using team = await startTeam({ isConnected: false });
    await using key = startOnTerminal('cli/main.js key set', { ...team.environment });
    await expect.poll(key.screen).toContain('press Enter: ');
    key.type(`${team.apiKey}\r`);
    expect(await key.ended).toBe(0);
    expect(key.screen()).toContain('The key works and is stored encrypted.');
    expect(key.screen()).not.toContain(team.apiKey);
  });

  test('stores nothing after Ctrl-C', async ({ expect }) => {
    await using team = await startTeam({ isConnected: false });
    await using key = startOnTerminal('cli/main.js key set', { ...team.environment });
    await expect.poll(key.screen).toContain('press Enter: ');
    key.type(`${team.apiKey}\u0003`);
    expect(await key.ended).toBe(1);
    expect(key.screen()).toMatch(/\nNothing was changed\.\n$/);
    expect(key.screen()).not.toContain(team.apiKey);
  });
});
