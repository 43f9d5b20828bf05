import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { eraseInstallation } from '../../src/cli/erase-installation.ts';
import { parseStoreConfig } from '../../src/config.ts';
import { Secret } from '../../src/domain/secret.ts';
import { HOUR_MS } from '../../src/domain/time.ts';
import { entry, makeFolder, open, T0, vault } from '../store/support.ts';
import { makeKey } from '../support/keys.ts';
import { createEmptyDatabase, postgresUrl } from '../support/postgres.ts';

const ENCRYPTION_KEYS = `test:${makeKey('store')}`;

/** Runs the built program as `npm run store -- …` does. */
function runStore(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  return new Promise<{ code: number; output: string; words: string }>((resolve) => {
    const env = { PATH: process.env.PATH, ENCRYPTION_KEYS, ...environment };
    execFile(process.execPath, ['dist/bundled/cli/store.js', ...args], { env }, (error, output, words) =>
      resolve({ code: Number(error?.code ?? 0), output, words }),
    );
  });
}

describe('npm run store', () => {
  test.each([
    [[], 'Choose copy, restored or erase.'],
    [['move'], `There's no command "move". Choose copy, restored or erase.`],
    [['restored', '--to', 'x'], 'restored takes no --to.'],
    [['copy', '--to', 'x', '--workspace', 'T1'], 'copy takes no --workspace.'],
    [['erase'], 'Which workspace? Add --workspace and its ID, such as T012AB3CD.'],
    [['erase', '--to', 'x', '--workspace', 'T1'], 'erase takes no --to.'],
    [['restored', 'yesterday'], 'Unexpected argument: yesterday'],
    [['copy'], 'Where to? Add --to and the address of a database.'],
    [['copy', '--to', 'x', 'y'], 'Unexpected argument: y'],
    [['copy', '--from', 'x'], "Unknown option '--from'."],
  ])('%j says what is wrong with it, and how it is used', async (args, problem) => {
    const { code, output, words } = await runStore(args);
    expect([code, output]).toEqual([1, '']);
    expect(words.split('\n')[0]).toBe(problem);
    expect(words).toContain('npm run store -- copy --to postgres://');
    expect(words).toContain('npm run store -- restored');
    expect(words).toContain('npm run store -- erase --workspace T…');
  });

  test('erase takes the ID of a workspace', async () => {
    const { code, words } = await runStore(['erase', '--workspace', 'acme']);
    expect([code, words]).toEqual([1, expect.stringContaining('"acme" is not a workspace ID.')]);
  });

  test('erase erases what is stored of a workspace whose token Slack refuses, while an app runs', async () => {
    const DATABASE_URL = `sqlite:${join(makeFolder(), 'vps.sqlite')}`;
    const { installationStore, apiKeys, grants, audit } = await open(DATABASE_URL);
    const erase = () => runStore(['erase', '--workspace', 'T1'], { DATABASE_URL });
    const tokens = { bot: new Secret('xoxb-1') };
    const installed = {
      id: 'T1',
      isOrg: false,
      name: 'Acme',
      installedBy: 'U1',
      installedAt: T0,
      scopes: [],
      tokens,
    };
    expect(await erase()).toMatchObject({ code: 1, words: expect.stringContaining('no install of the app') });
    const installation = await installationStore.install(installed, () => []);
    await apiKeys.put('T1', new Secret('key'), 'U1', T0);
    expect(await erase()).toMatchObject({ code: 1, words: expect.stringContaining("Slack hasn't refused") });
    expect(await apiKeys.find('T1')).toBeDefined();
    await installationStore.markTokenRefused(installation, true);
    const done = await erase();
    expect(done).toMatchObject({
      code: 0,
      words: '',
      output: expect.stringMatching(/^Erased for T1: .+\n$/),
    });
    expect([await installationStore.find('T1'), await apiKeys.find('T1')]).toEqual([undefined, undefined]);
    expect(await grants.list('T1')).toEqual([]);
    const [entry] = await audit.list({ workspaceId: 'T1', limit: 1 });
    expect(entry).toMatchObject({ action: 'uninstall', actorId: 'command line', surface: 'cli' });
    expect(await erase()).toMatchObject({ code: 1, words: expect.stringContaining('no install of the app') });
  });

  test.skipIf(!postgresUrl)('erase goes by the clock of the database, not by one that is ahead', async () => {
    const DATABASE_URL = await createEmptyDatabase();
    const { installationStore, clock } = await open(DATABASE_URL);
    const rotation = { expiresAt: clock.now() + HOUR_MS, refreshToken: new Secret('xoxe-1') };
    const place = { id: 'T1', isOrg: false, name: 'Acme', installedBy: 'U1', installedAt: T0, scopes: [] };
    const tokens = { bot: new Secret('xoxe.xoxb-1'), rotation };
    const installation = await installationStore.install({ ...place, tokens }, () => []);
    await installationStore.markRefreshRefused(installation, { name: 'none', owner: 'none' });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * HOUR_MS });
    onTestFinished(() => void vi.useRealTimers());
    const config = parseStoreConfig({ DATABASE_URL, ENCRYPTION_KEYS });
    await expect(eraseInstallation('T1', config, vault)).rejects.toThrow("Slack hasn't refused");
    expect(await installationStore.find('T1')).toBeDefined();
  });

  test.skipIf(!postgresUrl)('copy moves the store once, and says how it goes on', async () => {
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
