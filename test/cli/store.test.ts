import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { entry, makeFolder, open } from '../store/support.ts';
import { makeKey } from '../support/environment.ts';
import { createEmptyDatabase, postgresUrl } from '../support/postgres.ts';

const ENCRYPTION_KEYS = `test:${makeKey('store')}`;

/** Runs the built program. */
function runStore(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  return new Promise<{ code: number; output: string; words: string }>((resolve) => {
    const env = { PATH: process.env.PATH, ENCRYPTION_KEYS, ...environment };
    execFile(
      process.execPath,
      ['dist/bundled/cli/main.js', 'store', ...args],
      { env },
      (error, output, words) => resolve({ code: Number(error?.code ?? 0), output, words }),
    );
  });
}

describe('vps-slack store', () => {
  test.each([
    [[], 'Choose copy or restored.'],
    [['move'], `There's no command "move". Choose copy or restored.`],
    [['restored', '--to', 'x'], 'restored takes no --to.'],
    [['restored', 'yesterday'], 'Unexpected argument: yesterday'],
    [['copy'], 'Where to? Add --to and the address of a database.'],
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
