import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { makeFolder } from '../db/support.ts';
import { createServer, passwordOf } from '../support/acts.ts';
import { makeKey } from '../support/environment.ts';
import { startProcess } from '../support/killable-team.ts';
import { ENGINES } from '../support/postgres.ts';
import { runProgram } from '../support/programs.ts';
import { ENCRYPTION_KEY, startTeam } from '../support/team.ts';

type Environment = Readonly<Record<string, string>>;

const run = (args: readonly string[], environment: Environment, input = '') =>
  runProgram(args, environment, { input });

const runApp = (environment: Environment) => runProgram([], environment, { program: 'main.js' });

const refusedAs = (words: RegExp) => expect.objectContaining({ code: 1, all: expect.stringMatching(words) });

/** Every program that opens the store, except the app. */
const PROGRAMS = [
  ['key', 'list'],
  ['key', 'set', '--workspace', TEAM.id],
  ['audit', 'verify'],
  ['vps', 'list'],
  ['store', 'restored'],
  ['store', 'copy', '--to', 'postgres://127.0.0.1:1/nowhere'],
] as const;

const [K1, OTHER_K1, K2] = [ENCRYPTION_KEY, `k1:${makeKey('staging')}`, `k2:${makeKey('next')}`];
const ANOTHER =
  /^(The app could not start: )?ENCRYPTION_KEYS has a different key "k1" than this database was written with: .+\.\n$/;
const NONE =
  /^(The app could not start: )?ENCRYPTION_KEYS has none of the keys that this database was written with \(k1\): .+\.\n$/;

describe.concurrent.each(ENGINES)('ENCRYPTION_KEYS of another database on %s', (engine) => {
  test('are refused by the app and by every program, and nothing is written', async () => {
    await using team = await startTeam({ engine });
    await createServer(team.owner);
    const { audit, apiKeys } = team.app.ports;
    const before = await audit.listHeads();
    const setKey = (settings: Environment) =>
      run(['key', 'set', '--workspace', TEAM.id], settings, team.apiKey);

    const staging = { ...team.environment, ENCRYPTION_KEYS: OTHER_K1 };
    for (const settings of [staging, { ...staging, ENCRYPTION_KEYS: `${K2},${OTHER_K1}` }])
      expect(await setKey(settings)).toEqual(refusedAs(ANOTHER));
    expect(await setKey({ ...staging, ENCRYPTION_KEYS: K2 })).toEqual(refusedAs(NONE));
    for (const args of PROGRAMS.slice(2, 4)) expect(await run(args, staging)).toEqual(refusedAs(ANOTHER));
    expect(await audit.listHeads()).toEqual(before);
    expect(await apiKeys.find(TEAM.id)).toMatchObject({ setBy: USERS.olga.id });

    await team.restart(async () => {
      expect(await runApp(staging)).toEqual(refusedAs(ANOTHER));
      expect(await runApp({ ...staging, ENCRYPTION_KEYS: K2 })).toEqual(refusedAs(NONE));
      // A copy is made from SQLite alone.
      for (const args of PROGRAMS.slice(4, engine === 'sqlite' ? 6 : 5))
        expect(await run(args, staging)).toEqual(refusedAs(ANOTHER));
    });
    team.owner.overlooksOldMessages();
    await team.owner.types('/vps password web-1');
    await team.owner.sees(passwordOf(team));
    expect(await run(['audit', 'verify'], team.environment)).toMatchObject({ code: 0 });
  });

  test('are replaced as the README says: the app takes a new key, and the programs follow', async () => {
    await using team = await startTeam({ engine });
    await createServer(team.owner);
    const verify = (keys: string) => run(['audit', 'verify'], { ...team.environment, ENCRYPTION_KEYS: keys });
    const both = { ...team.environment, ENCRYPTION_KEYS: `${K2},${K1}` };

    const early = await run(['key', 'set', '--workspace', TEAM.id], both, team.apiKey);
    expect(early).toEqual(refusedAs(/^ENCRYPTION_KEYS begins with the key "k2", .+ start the app .+\.\n$/));
    await team.restart(async () => {
      expect(await run(['store', 'restored'], both)).toMatchObject({ code: 0 });
      // The local Slack goes on to speak to the app of the test.
      await using app = await startProcess({ ...both, ...(engine === 'sqlite' ? {} : { PORT: '0' }) });
      expect(app.output()).toContain('"msg":"ready"');
      expect(await run(['key', 'set', '--workspace', TEAM.id], both, team.apiKey)).toMatchObject({
        code: 0,
      });
      await app.stop();
    });
    const audited = await verify(`${K2},${K1}`);
    expect(audited).toMatchObject({ code: 0 });
    expect(await verify(`k2:${makeKey('staging')},${K1}`)).toMatchObject({
      code: 1,
      all: expect.stringContaining('a different key "k2"'),
    });
    team.owner.overlooksOldMessages();
    await team.owner.types('/vps password web-1');
    await team.owner.sees(passwordOf(team));
  });
});

test.concurrent.each(
  PROGRAMS.map((words) => words.join(' ')),
)('%s creates no database where DATABASE_URL is mistyped', async (typed) => {
  const folder = makeFolder();
  const path = join(folder, 'data', 'vsp.sqlite');
  const environment = {
    HOSTING_BASE_URL: 'http://127.0.0.1:1',
    ENCRYPTION_KEYS: K1,
    DATABASE_URL: `sqlite:${path}`,
  };
  const { code, all } = await run(typed.split(' '), environment, 'a-key');
  expect([code, all]).toEqual([
    1,
    `The app has no database at ${path}: correct DATABASE_URL, or start the app once to create one.\n`,
  ]);
  expect(existsSync(join(folder, 'data'))).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});
