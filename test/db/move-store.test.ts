import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { Secret } from '../../src/core/secret.ts';
import { DatabaseInUse, DatabaseUnusable } from '../../src/db/database.ts';
import { moveStore } from '../../src/db/move-store.ts';
import { APPROVALS } from '../../src/requests/request.ts';
import { realSystem } from '../../src/system.ts';
import { asInTests, createEmptyDatabase, postgresUrl } from '../support/postgres.ts';
import { queryDatabase } from '../support/query-database.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import {
  bySql,
  entry,
  makeFolder,
  newApproval,
  newCreate,
  newGrant,
  open,
  settleCreate,
  T0,
  vault,
} from './support.ts';

let path: string;
let from: string;
beforeEach(() => {
  path = join(makeFolder(), 'vps.sqlite');
  from = `sqlite:${path}`;
});

const openTarget = (url: string) => open(url, { system: realSystem, openEngine: asInTests });

/** Moves it, and returns what the operator reads. */
async function moveTo(to: string, more: Partial<Parameters<typeof moveStore>[0]> = {}) {
  const lines: string[] = [];
  await moveStore({ from, to, vault, system: realSystem, report: (line) => lines.push(line), ...more });
  return lines;
}

/** One of everything that matters, and more rows than are copied at once. */
async function fill(store: Store) {
  await store.workspaces.put({ id: 'T1', name: 'Acme 🚀' });
  await store.apiKeys.put('T1', new Secret('the key'), 'U1', T0);
  await store.grants.put(newGrant({ role: 'manager', pattern: 'web-*' }));
  const approval = newApproval();
  await store.requests.requestApproval(approval, entry());
  const [paid, open] = [newCreate('web-1'), newCreate('web-2')];
  await settleCreate(store, paid, { serverId: 7, password: new Secret('the password') });
  await store.ledger.prepare(open);
  await store.audit.add(entry({ workspaceId: 'T2', label: 'élan 🚀' }));
  return { paid, open, approval };
}

const exec = (text: string) => bySql(path, (db) => db.exec(text));

async function makeSource() {
  const store = await open(from);
  const made = await fill(store);
  await store.close();
  await exec(`insert into kept with recursive n(n) as (select 0 union all select n + 1 from n where n < 1000)
    select 'seen', 'request ' || n, '', '', 0, ${T0} from n`);
  return made;
}

describe.skipIf(!postgresUrl)('moving the store to PostgreSQL', () => {
  test('takes everything along, says what, and keeps secrets readable and the audit whole', async () => {
    const { paid, open: waiting, approval } = await makeSource();
    const to = await createEmptyDatabase();
    const lines = await moveTo(to);
    expect(lines).toContain('operations: 2 rows');
    expect(lines).toContain('kept: 1001 rows');
    expect(lines.at(-1)).toMatch(/^Done\. Set DATABASE_URL to postgres:\/\/.+ and start the app\./);
    const store = await openTarget(to);
    expect(await store.workspaces.find('T1')).toMatchObject({ name: 'Acme 🚀' });
    expect((await store.apiKeys.find('T1'))?.key.reveal()).toBe('the key');
    expect((await store.passwords.find(paid.id))?.password.reveal()).toBe('the password');
    expect(await store.ledger.find(paid.id)).toMatchObject({ state: 'settled', serverId: 7, price: 499 });
    expect(await store.ledger.find(waiting.id)).toMatchObject({ state: 'prepared' });
    expect(await store.requests.find(approval.id, APPROVALS)).toMatchObject({ state: 'open' });
    expect(await store.grants.list('T1')).toMatchObject([{ role: 'manager', pattern: 'web-*' }]);
    expect(await store.seenRequests.addFirst('request 1000', T0)).toBe(false);
    await store.audit.add(entry());
    expect(await store.audit.verify('T1')).toMatchObject({ ok: true, entries: 3 });
  });

  test('retires the source, for the app and the command line', async () => {
    await makeSource();
    const to = new URL(await createEmptyDatabase());
    to.password = 'hunter2';
    await moveTo(to.href);
    for (const lock of [true, false]) {
      const opened = open(from, { lock });
      await expect(opened).rejects.toThrow(DatabaseUnusable);
      await expect(opened).rejects.toThrow(
        /^This database was moved to postgres:\/\/127.+ on .+ Set DATABASE_URL/,
      );
      await expect(opened).rejects.not.toThrow(/hunter2/);
    }
    await expect(moveTo(await createEmptyDatabase())).rejects.toThrow(/was moved to/);
  });

  test('is refused while an app uses the source', async () => {
    await open(from);
    await expect(moveTo(await createEmptyDatabase())).rejects.toThrow(DatabaseInUse);
  });

  test('is refused into a database that has something, which stays as it is, like the source', async () => {
    await makeSource();
    const to = await createEmptyDatabase();
    const other = await openTarget(to);
    await other.workspaces.put({ id: 'T9', name: 'Other' });
    await expect(moveTo(to)).rejects.toThrow(/^The target is not empty: its table \w+ has rows\./);
    expect(await other.workspaces.find('T1')).toBeUndefined();
    expect(await (await open(from)).workspaces.find('T1')).toBeDefined();
  });

  test.each([
    ['sqlite:elsewhere', /^--to must be written like postgres/],
    ['postgres://127.0.0.1:1/x', /can't be used/],
  ])('is refused to %s, and the source stays usable', async (to, words) => {
    await makeSource();
    await expect(moveTo(to)).rejects.toThrow(words);
    expect(await (await open(from)).workspaces.find('T1')).toBeDefined();
  });

  test('is refused while responses to paid orders lie beside the file', async () => {
    const { open: waiting } = await makeSource();
    const store = await open(from);
    await store.spill.write(waiting.id, { serverId: 9 });
    await store.close();
    await expect(moveTo(await createEmptyDatabase())).rejects.toThrow(
      /Start the app once to store them, then copy again/,
    );
  });
});

describe.skipIf(!postgresUrl)('a move to PostgreSQL that fails', () => {
  let proxy: TcpProxy;
  beforeEach(async () => {
    await makeSource();
    proxy = await startTcpProxy(await createEmptyDatabase());
    onTestFinished(() => proxy[Symbol.asyncDispose]());
  });

  test('halfway leaves the source usable and the target empty, and can be repeated', async () => {
    const report = (line: string) => void (line.startsWith('operations') && proxy.cut());
    await expect(moveTo(proxy.url, { report })).rejects.toThrow();
    await (await open(from)).close();
    proxy.mend();
    expect((await moveTo(proxy.url)).at(-1)).toMatch(/^Done/);
  });

  test('before its commit leaves the target empty, and can be repeated', async () => {
    const report = (said: string) => void (said.startsWith('workspaces') && proxy.loseNextCommit('before'));
    await expect(moveTo(proxy.url, { report })).rejects.toThrow();
    await (await open(from)).close();
    expect(await moveTo(proxy.url)).toContain('operations: 2 rows');
  });

  test('after its commit leaves the source usable, and the copy refuses to open', async () => {
    const report = (said: string) => void (said.startsWith('workspaces') && proxy.loseNextCommit('after'));
    await expect(moveTo(proxy.url, { report })).rejects.toThrow();
    await (await open(from)).close();
    for (const lock of [true, false])
      await expect(open(proxy.url, { lock, openEngine: asInTests })).rejects.toThrow(
        /the move didn't finish\. Run "vps-slack store copy"/,
      );
    await expect(moveTo(proxy.url)).rejects.toThrow(/^The target is not empty/);
    expect((await moveTo(await createEmptyDatabase())).at(-1)).toMatch(/^Done/);
  });

  test('before its last step opens neither until it is repeated', async () => {
    await moveTo(proxy.url);
    await queryDatabase(proxy.url, "insert into facts values ('arriving', '', 'sqlite:vps.sqlite', 0)");
    await expect(openTarget(proxy.url)).rejects.toThrow(/the move didn't finish/);
    expect(await moveTo(proxy.url)).toEqual([expect.stringMatching(/^Done/)]);
    expect(await (await openTarget(proxy.url)).audit.verify('T1')).toMatchObject({ ok: true, entries: 2 });
    await expect(moveTo(proxy.url)).rejects.toThrow(/was moved to/);
  });
});
