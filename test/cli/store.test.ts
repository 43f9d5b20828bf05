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
