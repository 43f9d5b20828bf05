import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { largeCatalog } from '../../../src/sandbox/hosting/catalog.ts';
import { HostingClock } from '../../../src/sandbox/hosting/clock.ts';
import { HostingService } from '../../../src/sandbox/hosting/hosting.ts';
import { html } from '../../../src/sandbox/hosting/page/views.ts';
import { snapshotSchema } from '../../../src/sandbox/hosting/snapshot.ts';
import { openFolder, StateFile } from '../../../src/sandbox/prepare.ts';
import { eventually } from '../../support/eventually.ts';
import { type Caller, startCaller } from './caller.ts';

const pageOf = async ({ hosting, account }: Caller) => (await fetch(hosting.pageUrlOf(account))).text();

/** Posts a form as the page itself would, and shows the page it leads to. */
async function post({ hosting, account }: Caller, path: string, fields: Record<string, string> = {}) {
  const response = await fetch(`${hosting.pageUrlOf(account)}/${path}`, {
    method: 'POST',
    headers: { origin: `http://127.0.0.1:${hosting.port}` },
    body: new URLSearchParams(fields),
    redirect: 'manual',
  });
  const location = response.headers.get('location') ?? '';
  const page = await fetch(new URL(location, hosting.pageUrl));
  return { status: response.status, location, url: page.url, text: await page.text() };
}

/** A request with any headers, `Host` among them, which fetch would not let through. */
function knock(url: string, method: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
    request.end(method === 'POST' ? 'amount=10' : undefined);
  });
}

describe('the account page', () => {
  test('shows balance, keys, servers, money, faults, prices and requests, all escaped', async () => {
    const caller = await startCaller();
    await caller.create({ label: '<script>alert(1)</script>' });
    caller.hosting.faults.add({ on: 'renew', kind: 'lost_after', times: 'always' });
    const page = await pageOf(caller);
    for (const words of [
      '94.10',
      `…${caller.key.slice(-4)}`,
      'creating',
      'lost_after',
      '11.90',
      'POST /v1/servers',
    ])
      expect(page).toContain(words);
    expect(page).not.toContain('<script');
    expect(page).not.toContain(caller.key);
  });

  test('lists accounts and opens another, which is closed until its first top-up', async () => {
    const caller = await startCaller();
    const opened = await fetch(`${caller.hosting.pageUrl}open`, {
      method: 'POST',
      headers: { origin: `http://127.0.0.1:${caller.hosting.port}` },
      body: new URLSearchParams({ name: 'Second' }),
    });
    expect(await opened.text()).toContain('The API opens with the first top-up');
    expect(await (await fetch(caller.hosting.pageUrl)).text()).toContain('Second');
    const second = caller.hosting.accounts.list()[1];
    if (!second) throw new Error('No second account');
    const tooEarly = await post({ ...caller, account: second }, 'keys');
    expect(tooEarly.text).toContain('Top up first');
    expect(caller.hosting.accounts.listKeys(second)).toEqual([]);
  });

  test.each([
    ['50', 150_00],
    ['0.05', 100_05],
    ['7,5', 107_50],
  ])('tops up by %s', async (amount, balanceMinor) => {
    const caller = await startCaller();
    expect((await post(caller, 'top-up', { amount })).status).toBe(303);
    expect(caller.hosting.balanceOf(caller.account)).toBe(balanceMinor);
  });

  test.each(['', '0', '-5', '1.234', 'ten', '99999999'])('says so when "%s" is no top-up', async (amount) => {
    const caller = await startCaller();
    expect((await post(caller, 'top-up', { amount })).text).toContain('role="alert"');
    expect(caller.hosting.balanceOf(caller.account)).toBe(100_00);
  });

  test('shows a new key once, and a revoked one no longer opens the API', async () => {
    const caller = await startCaller();
    const shown = await post(caller, 'keys');
    const key = /hk_[\w-]+/.exec(shown.text)?.[0] ?? '';
    expect((await caller.call('GET', '/catalog', undefined, `Bearer ${key}`)).status).toBe(200);
    expect(shown.location).not.toContain(key);
    expect(await (await fetch(shown.url)).text()).not.toContain(key);
    const id = caller.hosting.accounts.listKeys(caller.account).at(-1)?.id;
    await post(caller, `keys/${id}/revoke`);
    expect((await caller.call('GET', '/catalog', undefined, `Bearer ${key}`)).status).toBe(401);
  });

  test('switches faults on and off', async () => {
    const caller = await startCaller();
    const fields = { on: 'create', kind: 'error:limit', times: 'always', seconds: '1' };
    await post(caller, 'faults', fields);
    await post(caller, 'faults', { on: 'any', kind: 'slow', times: '2', seconds: '1.5' });
    expect(caller.hosting.faults.list()).toMatchObject([
      { left: Number.POSITIVE_INFINITY, rule: { on: 'create', kind: 'error', code: 'limit' } },
      { left: 2, rule: { on: 'any', kind: 'slow', delayMs: 1500 } },
    ]);
    for (const { id } of caller.hosting.faults.list()) await post(caller, `faults/${id}/remove`);
    expect(caller.hosting.faults.list()).toEqual([]);
    const wrong = await post(caller, 'faults', { ...fields, on: 'renew', kind: 'checking_completes' });
    expect(wrong.text).toContain('only create can be');
    expect((await post(caller, 'faults', { kind: 'toString' })).text).toContain('no such fault');
  });

  test('keeps to the seconds that were entered for a fault', async () => {
    const caller = await startCaller();
    const { create, hosting, account } = caller;
    await post(caller, 'faults', { on: 'create', kind: 'error:checking', times: '1', seconds: '5' });
    expect((await create()).body).toEqual({ code: 'checking' });
    hosting.clock.advance(4_999);
    expect(hosting.refunds(account)).toEqual([]);
    hosting.clock.advance(1);
    expect(hosting.refunds(account)).toHaveLength(1);
  });

  test('changes how the service answers', async () => {
    const caller = await startCaller();
    const { text } = await post(caller, 'answers', { paging: 'link', pageSize: '7' });
    expect(caller.hosting.style).toMatchObject({ paging: 'link', pageSize: 7, errorShape: 'code' });
    expect(text).toContain('<option selected>link</option>');
    await post(caller, 'answers', { paging: 'sideways' });
    expect(caller.hosting.style.paging).toBe('link');
  });

  test('changes a price and moves time', async () => {
    const caller = await startCaller();
    await post(caller, 'prices', { plan: 'small', price: '9.5' });
    expect(caller.hosting.prices.priceMinorOf('small')).toBe(950);
    const beforeMs = caller.hosting.clock.now();
    for (const step of ['hour', 'day', 'month']) await post(caller, 'time', { step });
    expect(new Date(caller.hosting.clock.now()).toISOString()).toBe('2026-02-16T11:00:00.000Z');
    expect((await post(caller, 'time', { step: 'back' })).text).toContain('role="alert"');
    expect(caller.hosting.clock.now()).toBeGreaterThan(beforeMs);
  });

  test('stays short with three thousand servers and 150 plans', async () => {
    const caller = await startCaller({ catalog: largeCatalog() });
    caller.hosting.seedServers(caller.account, 3000);
    const page = await pageOf(caller);
    expect(page).toContain('and 2900 more');
    expect(page.length).toBeLessThan(100_000);
  });

  test.each(['account/99', 'account/1/x', 'account/x'])('has no page at %s', async (path) => {
    const { hosting } = await startCaller();
    expect((await fetch(`http://127.0.0.1:${hosting.port}/${path}`)).status).toBe(404);
  });

  test('is what the bare address leads to', async () => {
    const { hosting } = await startCaller();
    expect((await fetch(`http://127.0.0.1:${hosting.port}/`)).url).toBe(hosting.pageUrl);
  });
});

describe('against other pages in the same browser', () => {
  const own = (port: number) => `http://127.0.0.1:${port}`;

  test.each([
    ['no word of where it came from', {}],
    ['another origin', { origin: 'http://evil.example' }],
    ['another port', { origin: 'http://127.0.0.1:1' }],
    ['a hidden origin', { origin: 'null' }],
    ['a cross-site form', { 'sec-fetch-site': 'cross-site' }],
    ['a same-site form of another port', { 'sec-fetch-site': 'same-site' }],
  ])('refuses a form with %s', async (_what, headers) => {
    const { hosting, account } = await startCaller();
    expect(await knock(`${hosting.pageUrlOf(account)}/top-up`, 'POST', headers)).toBe(403);
    expect(hosting.balanceOf(account)).toBe(100_00);
  });

  test('refuses a form whose headers disagree', async () => {
    const { hosting, account } = await startCaller();
    const headers = { origin: own(hosting.port), 'sec-fetch-site': 'cross-site' };
    expect(await knock(`${hosting.pageUrlOf(account)}/top-up`, 'POST', headers)).toBe(403);
  });

  test('takes its own form', async () => {
    const { hosting, account } = await startCaller();
    const headers = { origin: own(hosting.port), 'sec-fetch-site': 'same-origin' };
    expect(await knock(`${hosting.pageUrlOf(account)}/top-up`, 'POST', headers)).toBe(303);
    expect(hosting.balanceOf(account)).toBe(110_00);
  });

  test.each([
    'evil.example',
    'evil.example:80',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
  ])('refuses to be called %s', async (host) => {
    const { hosting, account } = await startCaller();
    const url = hosting.pageUrlOf(account);
    expect(await knock(url, 'GET', { host })).toBe(403);
    expect(await knock(`${url}/top-up`, 'POST', { host, origin: `http://${host}` })).toBe(403);
    expect(hosting.balanceOf(account)).toBe(100_00);
  });

  test('may not be framed, and runs no script', async () => {
    const { hosting } = await startCaller();
    const policy = (await fetch(hosting.pageUrl)).headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
  });

  test('refuses a form of megabytes and any other method', async () => {
    const { hosting, account } = await startCaller();
    const headers = { origin: own(hosting.port) };
    const body = 'x'.repeat(200_000);
    const answer = await fetch(`${hosting.pageUrlOf(account)}/top-up`, { method: 'POST', headers, body });
    expect(answer.status).toBe(400);
    expect((await fetch(hosting.pageUrl, { method: 'DELETE' })).status).toBe(405);
  });
});

describe('the words between the tags', () => {
  test('are escaped unless they are HTML of ours', () => {
    const cell = html`<td>${'<&"\'>'}</td>`;
    expect(html`<tr>${[cell, cell]}${undefined}${false}${7}</tr>`.text).toBe(
      '<tr><td>&#60;&#38;&#34;&#39;&#62;</td><td>&#60;&#38;&#34;&#39;&#62;</td>7</tr>',
    );
  });
});

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

const MAIN = fileURLToPath(new URL('../../../src/sandbox/hosting/main.ts', import.meta.url));
const run = (port: string) =>
  promisify(execFile)(process.execPath, ['--import', 'tsx', MAIN, '--port', port]).then(
    () => ({ code: 0, stderr: '' }),
    (failure: { code: number; stderr: string }) => ({ code: failure.code, stderr: failure.stderr }),
  );

test('prints an address, a key that works at once, and the account page, and ends on a signal', async () => {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, '--port', '0']);
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    if (printed.includes('curl')) break;
  }
  const baseUrl = /http:\S+\/v1\b/.exec(printed)?.[0];
  const key = /hk_[\w-]+/.exec(printed)?.[0];
  const pageUrl = /http:\S+\/account\/1/.exec(printed)?.[0] ?? '';
  const headers = { authorization: `Bearer ${key}`, connection: 'close' };
  expect((await fetch(`${baseUrl}/catalog`, { headers })).status).toBe(200);
  expect(await (await fetch(pageUrl)).text()).toContain('250.00');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('says in a sentence that a port is in use, or is none', async () => {
  const { hosting } = await startCaller();
  expect(await run(String(hosting.port))).toEqual({
    code: 1,
    stderr: `Port ${hosting.port} is in use. Choose another with --port.\n`,
  });
  const none = await run('99999');
  expect(none.code).toBe(1);
  expect(none.stderr).toMatch(/^"99999" is not a port[^\n]*\n$/);
});

test('lists its options when asked, and starts nothing', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', MAIN, '--help']);
  for (const option of ['--max-servers', '--rate', '--error-shape', '--paging', '--page-size'])
    expect(stdout).toContain(option);
  expect(stdout).not.toContain('hk_');
});
