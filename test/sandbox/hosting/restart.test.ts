import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { HostingClock } from '../../../src/sandbox/hosting/clock.ts';
import { HostingService } from '../../../src/sandbox/hosting/hosting.ts';
import { snapshotSchema } from '../../../src/sandbox/hosting/snapshot.ts';
import { openFolder, StateFile } from '../../../src/sandbox/prepare.ts';
import { eventually } from '../../support/eventually.ts';

const START_MS = Date.parse('2026-01-15T10:00:00Z');
const ORDER = { plan: 'small', location: 'fra', image: 'debian-13', label: 'web-1' };

const newClock = (skippedMs = 0) => new HostingClock(() => START_MS, skippedMs);

/** The same service in a later process, by way of its file. */
function restartService(service: HostingService): HostingService {
  const snapshot = snapshotSchema.parse(JSON.parse(JSON.stringify(service.snapshot())));
  return new HostingService({ clock: newClock(snapshot.skippedMs), snapshot });
}

function startService() {
  const service = new HostingService({ clock: newClock() });
  const account = service.accounts.create({ name: 'Example Ltd', balanceMinor: 100_00 });
  return { service, account };
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vps-sandbox-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('after a restart', () => {
  test('balances, movements, servers, prices and the time are what they were', () => {
    const { service, account } = startService();
    const { id } = service.servers.create(account, ORDER, { says: 'yes' });
    service.seedServers(account, 3);
    service.clock.advance(10_000);
    service.servers.power(account, String(id), 'reboot');
    service.servers.renew(account, String(id));
    service.setPrice('small', '7.77');
    service.clock.advanceMonth();
    const later = restartService(service);
    const [same] = later.accounts.list();
    if (!same) throw new Error('the account is gone');
    expect(same).toEqual(account);
    expect(later.balanceOf(same)).toBe(service.balanceOf(account));
    expect(later.listServers(same)).toEqual(service.listServers(account));
    expect(later.charges(same)).toEqual(service.charges(account));
    expect(later.topUps(same)).toEqual(service.topUps(account));
    expect(later.prices.current).toEqual(service.prices.current);
    expect(later.clock.now()).toBe(service.clock.now());
    const fresh = later.servers.create(same, ORDER, { says: 'yes' });
    expect(service.listServers(account).map((server) => server.id)).not.toContain(fresh.id);
    expect(later.charges(same).at(-1)?.amountMinor).toBe(777);
  });

  test('a key opens its account, and a revoked one still does not', () => {
    const { service, account } = startService();
    const [good, revoked] = [service.createKey(account), service.createKey(account)];
    service.accounts.revokeKey(account, revoked);
    const later = restartService(service);
    expect(later.accounts.findByKey(good)).toEqual(account);
    expect(later.accounts.findByKey(revoked)).toBeUndefined();
    expect(later.accounts.listKeys(account)).toEqual(service.accounts.listKeys(account));
    later.createKey(account);
    expect(new Set(later.accounts.listKeys(account).map(({ id }) => id)).size).toBe(3);
  });

  test.each([true, false])('an unconfirmed order ends all the same (completes: %s)', (completes) => {
    const { service, account } = startService();
    const supplier = { says: 'nothing', completes, afterMs: 60_000 } as const;
    expect(() => service.servers.create(account, ORDER, supplier)).toThrow('checking');
    const later = restartService(service);
    expect(later.listServers(account)).toEqual([]);
    later.clock.advance(60_000);
    expect(later.listServers(account)).toHaveLength(completes ? 1 : 0);
    expect(later.balanceOf(account)).toBe(completes ? 94_10 : 100_00);
    expect(later.charges(account)).toHaveLength(1);
  });
});

describe('a minute with a restart in it', () => {
  test('has the requests that it had, and no more of them than any other', () => {
    const { service, account } = startService();
    const noted = { atMs: START_MS, realAtMs: START_MS, method: 'GET', path: '/v1/servers' };
    const answered = service.journal.arrive({ ...noted, operation: 'servers' });
    service.journal.note(answered.id, { accountId: account.id, ending: 'answered', status: 200 });
    const hurt = service.journal.arrive({ ...noted, operation: undefined });
    for (let count = 0; count < 299; count += 1) service.rateLimit.accept(account.id, START_MS + count);
    const later = restartService(service);
    expect(later.requests()).toEqual([
      { ...answered, accountId: account.id, ending: 'answered', status: 200 },
      { ...hurt, ending: 'cut' },
    ]);
    expect(later.rateLimit.accept(account.id, START_MS)).toBe(true);
    expect(later.rateLimit.accept(account.id, START_MS)).toBe(false);
    expect(later.rateLimit.accept(account.id, START_MS + 60_000)).toBe(true);
  });

  test('starts empty in a folder of an earlier version', () => {
    const { service } = startService();
    const { accepted: _minute, journal, ...rest } = service.snapshot();
    const { requests: _requests, ...movements } = journal;
    expect(snapshotSchema.parse({ ...rest, journal: movements })).toEqual(service.snapshot());
  });
});

test('what is kept holds no API key and no root password', () => {
  const { service, account } = startService();
  const key = service.createKey(account);
  const { root_password } = service.servers.create(account, ORDER, { says: 'yes' });
  const written = JSON.stringify(service.snapshot());
  expect(written).not.toContain(key);
  expect(written).not.toContain(JSON.stringify(root_password).slice(1, -1));
});

test('every kind of change calls the listeners, so that it can be saved', () => {
  const { service, account } = startService();
  const key = service.createKey(account);
  const [id = 0] = service.seedServers(account, 1);
  const changes: readonly (() => unknown)[] = [
    () => service.accounts.create({ name: 'Another' }),
    () => service.accounts.topUp(account, 100),
    () => service.createKey(account),
    () => service.accounts.revokeKey(account, key),
    () => service.servers.create(account, ORDER, { says: 'yes' }),
    () => service.servers.power(account, String(id), 'stop'),
    () => service.servers.renew(account, String(id)),
    () => service.servers.remove(account, String(id)),
    () => service.setPrice('small', '1.00'),
    () => service.clock.advance(1),
  ];
  for (const change of changes) {
    let told = '';
    const stop = service.onChange(() => {
      told = JSON.stringify(service.snapshot());
    });
    change();
    stop();
    // The last telling comes when the change is whole.
    expect(told, String(change)).toBe(JSON.stringify(service.snapshot()));
  }
});

describe('a kept file', () => {
  test('is written soon after a change, for its owner alone, and as a whole', async () => {
    const path = join(await newFolder(), 'state.json');
    let state = 1;
    const file = new StateFile(path, () => ({ state }));
    await file.flush();
    await expect(stat(path)).rejects.toThrow('ENOENT');
    file.touch();
    await eventually(async () => expect(await readFile(path, 'utf8')).toBe('{"state":1}\n'));
    expect(await modeOf(path)).toBe(0o600);
    for (state = 2; state < 50; state += 1) file.touch();
    await Promise.all([file.flush(), file.flush()]);
    expect(await readFile(path, 'utf8')).toBe('{"state":50}\n');
    expect(await readdir(join(path, '..'))).toEqual(['state.json']);
  });

  test('holds no API key, even if a user pasted one into the chat', async () => {
    const { service, account } = startService();
    const key = service.createKey(account);
    const path = join(await newFolder(), 'state.json');
    const file = new StateFile(path, () => ({ messages: [{ text: `my key: ${key}!` }] }));
    file.touch();
    await file.flush();
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
      messages: [{ text: 'my key: hk_[masked]!' }],
    });
  });

  test('that cannot be written is complained about, and written when it can be', async () => {
    const folder = join(await newFolder(), 'gone');
    const complaint = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const file = new StateFile(join(folder, 'state.json'), () => 1);
    file.touch();
    await file.flush();
    expect(complaint.mock.calls.join()).toContain('state.json');
    complaint.mockRestore();
    await mkdir(folder);
    await file.flush();
    expect(await readFile(join(folder, 'state.json'), 'utf8')).toBe('1\n');
  });
});

describe('the folder', () => {
  test('is made for its owner alone, and closed to others if it was open', async () => {
    const base = await newFolder();
    openFolder(join(base, 'new', 'er')).close();
    expect(await modeOf(join(base, 'new', 'er'))).toBe(0o700);
    await chmod(join(base, 'new', 'er'), 0o755);
    openFolder(join(base, 'new', 'er')).close();
    expect(await modeOf(join(base, 'new', 'er'))).toBe(0o700);
  });

  test('is used by one sandbox at a time', async () => {
    const path = await newFolder();
    const first = openFolder(path);
    expect(() => openFolder(path)).toThrow(`Another sandbox is using ${path}`);
    first.close();
    openFolder(path).close();
  });

  test('is refused when it contains other files, which stay as they are', async () => {
    const path = await newFolder();
    await writeFile(join(path, 'thesis.txt'), 'precious');
    await chmod(path, 0o755);
    expect(() => openFolder(path)).toThrow('contains other files');
    expect(await readdir(path)).toEqual(['thesis.txt']);
    expect(await modeOf(path)).toBe(0o755);
    expect(() => openFolder(join(path, 'thesis.txt'))).toThrow('is not a folder');
  });

  test.each([
    ['half a file', '{"state":'],
    ['another shape', '{"state":"one"}'],
    ['nothing', ''],
  ])('names a damaged file (%s), and leaves it as it is', async (_, text) => {
    const path = await newFolder();
    const folder = openFolder(path);
    onTestFinished(() => folder.close());
    const schema = z.strictObject({ state: z.number() });
    expect(folder.read('state.json', schema)).toBeUndefined();
    await writeFile(folder.pathOf('state.json'), text);
    expect(() => folder.read('state.json', schema)).toThrow(`${folder.pathOf('state.json')} is damaged`);
    expect(await readFile(folder.pathOf('state.json'), 'utf8')).toBe(text);
  });

  test('takes no servers of accounts or plans that are not there', () => {
    const { service, account } = startService();
    service.seedServers(account, 1);
    const snapshot = service.snapshot();
    expect(snapshotSchema.safeParse(snapshot).success).toBe(true);
    expect(snapshotSchema.safeParse({ ...snapshot, accounts: [] }).success).toBe(false);
    const catalog = { ...snapshot.catalog, plans: [] };
    expect(snapshotSchema.safeParse({ ...snapshot, catalog }).success).toBe(false);
  });
});
