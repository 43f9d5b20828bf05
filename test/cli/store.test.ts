import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { entry, makeFolder, open } from '../db/support.ts';
import { makeKey } from '../support/environment.ts';
import { createEmptyDatabase, postgresUrl } from '../support/postgres.ts';
import { runProgram } from '../support/programs.ts';

const ENCRYPTION_KEYS = `test:${makeKey('store')}`;

const runStore = (args: readonly string[], settings: Readonly<Record<string, string>> = {}) =>
  runProgram(['store', ...args], { ENCRYPTION_KEYS, ...settings });

describe('vps-slack store', () => {
  test.each([
    [[], 'Choose copy or restored.'],
    [['move'], `There's no command "move". Choose copy or restored.`],
    [['restored', '--to', 'x'], 'restored takes no --to.'],
    [['restored', 'yesterday'], 'Unexpected argument: yesterday'],
    [['copy'], 'Add --to with the address of the PostgreSQL database to copy to.'],
    [['copy', '--to', 'x', 'y'], 'Unexpected argument: y'],
    [['copy', '--from', 'x'], "Unknown option '--from'."],
  ])('with %j prints what is wrong and the usage', async (args, problem) => {
    const { code, output, words } = await runStore(args);
    expect([code, output]).toEqual([2, '']);
    expect(words.split('\n')[0]).toBe(problem);
    expect(words).toContain('vps-slack store copy --to postgres://');
    expect(words).toContain('vps-slack store restored');
  });

  test.skipIf(!postgresUrl)('copy moves the store once, and prints the next step', async () => {
    const from = `sqlite:${join(makeFolder(), 'vps.sqlite')}`;
    const store = await open(from);
    await store.audit.add(entry());
    await store.close();
    const to = await createEmptyDatabase();
    const done = await runStore(['copy', '--to', to], { DATABASE_URL: from });
    expect(done).toMatchObject({ code: 0, words: '' });
    expect(done.output).toContain('audit: 1 row\n');
    expect(done.output).toMatch(/\nDone\. Set DATABASE_URL to postgres:\/\/[^\n]+\n$/);
    const again = await runStore(['copy', '--to', to], { DATABASE_URL: from });
    expect([again.code, again.output]).toEqual([1, '']);
    expect(again.words).toMatch(/^This database was moved to /);
  });
});
