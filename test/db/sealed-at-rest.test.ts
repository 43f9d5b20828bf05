import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { Secret } from '../../src/core/secret.ts';
import { VaultError } from '../../src/db/vault.ts';
import { triesOf } from '../support/tries.ts';
import { bySql, makeFolder, newCreate, open, readBytes, settleCreate, T0, vault } from './support.ts';

const KEY = 'canary-api-key-4711';
const PASSWORD = 'canary-password-0815';
const REPLY_URL = 'https://hooks.slack.example/canary';

let folder: string;
let path: string;
let store: Store;
beforeEach(async () => {
  folder = makeFolder();
  path = join(folder, 'vps.sqlite');
  store = await open(`sqlite:${path}`);
});

/** A server that U1 created, and its root password. */
const holdPassword = (word = PASSWORD, serverId = 1) =>
  settleCreate(store, newCreate(), { serverId, password: new Secret(word), isFirstHand: true });

const install = (token: string) => {
  const rotation = { expiresAt: T0, refreshToken: new Secret(`refresh-${token}`) };
  const facts = { id: 'T1', isOrg: false, name: 'Acme', installedBy: 'U1', installedAt: T0 };
  return store.installationStore.install({ ...facts, tokens: { bot: new Secret(token), rotation } });
};

function readSealed(table: string): Promise<string> {
  return bySql(path, (db) =>
    String((db.prepare(`select sealed from ${table}`).get() as { sealed: string }).sealed),
  );
}

describe('the database files', () => {
  test.each([
    ['the user has saved it', (id: string) => store.passwords.erase(id)],
    [
      'it has expired',
      async (id: string) => {
        await store.passwords.startHold(id, T0, 1);
        await store.passwords.eraseExpired(T0 + 1);
      },
    ],
  ])('no longer contain even the sealed password once %s', async (_, erase) => {
    // Long enough to need a page of its own, so that freed pages are looked at as well.
    const id = await holdPassword(PASSWORD.repeat(1000));
    const sealed = await readSealed('passwords');
    expect(readBytes(folder).includes(sealed.slice(0, 200))).toBe(true);
    await erase(id);
    const bytes = readBytes(folder);
    for (let start = 0; start < sealed.length - 40; start += 997) {
      expect(bytes.includes(sealed.slice(start, start + 40))).toBe(false);
    }
    expect(bytes.includes(PASSWORD)).toBe(false);
  });

  test('no longer contain an API key that was removed or replaced', async () => {
    await store.apiKeys.put('T1', new Secret(KEY), 'U1', T0);
    const first = await readSealed('api_keys');
    await store.apiKeys.put('T1', new Secret(`${KEY}-2`), 'U1', T0);
    const second = await readSealed('api_keys');
    expect([readBytes(folder).includes(first), readBytes(folder).includes(second)]).toEqual([false, true]);
    await store.apiKeys.remove('T1');
    expect(readBytes(folder).includes(second)).toBe(false);
  });

  test('no longer contain an erased password after the next sweep if a reader delayed that, and erasing never waits', async () => {
    const id = await holdPassword();
    const sealed = await readSealed('passwords');
    const reader = new DatabaseSync(path);
    reader.exec('begin');
    reader.prepare('select count(*) from passwords').get();
    const started = performance.now();
    await store.passwords.erase(id);
    expect(performance.now() - started).toBeLessThan(1000);
    expect(readBytes(folder).includes(sealed)).toBe(true);
    reader.exec('commit');
    reader.close();
    await store.passwords.eraseExpired(T0);
    expect(readBytes(folder).includes(sealed)).toBe(false);
  });
});

describe('a row that was copied', () => {
  test('to another workspace can’t be opened: no workspace pays with another one’s account', async () => {
    await store.apiKeys.put('T1', new Secret(KEY), 'U1', T0);
    await bySql(path, (db) =>
      db.exec("insert into api_keys select 'T2', sealed, set_by, set_at from api_keys"),
    );
    await expect(store.apiKeys.find('T2')).rejects.toThrow(VaultError);
    expect((await store.apiKeys.find('T1'))?.key.reveal()).toBe(KEY);
  });

  test('to another operation, also of the same creator, label and server ID, or to another workspace can’t be opened', async () => {
    const [mine, theirs] = [await holdPassword('mine'), await holdPassword('theirs')];
    await bySql(path, (db) => {
      const copy =
        'update passwords set sealed = (select sealed from passwords where operation_id = ?) where operation_id = ?';
      db.prepare(copy).run(theirs, mine);
      db.prepare("update passwords set workspace_id = 'T2' where operation_id = ?").run(theirs);
    });
    await expect(store.passwords.find(mine)).rejects.toThrow(VaultError);
    await expect(store.passwords.find(theirs)).rejects.toThrow(VaultError);
  });

  test('with a reply address can’t be opened in another workspace, or under another ID', async () => {
    await store.replyUrls.store('r', 'T1', new Secret(REPLY_URL), T0 + 1);
    await bySql(path, (db) => db.exec("update kept set workspace_id = 'T2'"));
    await expect(store.replyUrls.use('r', T0)).rejects.toThrow(VaultError);
    await bySql(path, (db) => db.exec("update kept set workspace_id = 'T1', id = 'other'"));
    await expect(store.replyUrls.use('other', T0)).rejects.toThrow(VaultError);
  });
});

test('the tokens of an installation can’t be put back after a new one, nor given to another installer', async () => {
  await install('first');
  const first = await readSealed('installations');
  await install('second');
  expect(readBytes(folder).includes(first)).toBe(false);
  await bySql(path, (db) => db.prepare('update installations set sealed = ?').run(first));
  await expect(store.installationStore.find('T1')).rejects.toThrow(VaultError);
  await install('third');
  await bySql(path, (db) => db.exec("update installations set installed_by = 'U9'"));
  await expect(store.installationStore.find('T1')).rejects.toThrow(VaultError);
});

describe('an attacker who can write the database, but has no key', () => {
  const anyForgery = fc.oneof(
    fc.tuple(fc.constantFrom('creator_id', 'label'), fc.stringMatching(/^[A-Z0-9]{2,11}$/)),
    fc.tuple(fc.constant('server_id'), fc.integer({ min: 8, max: 1e9 })),
  );
  const change = (sql: string, ...parameters: (string | number)[]) =>
    bySql(path, (db) => db.prepare(sql).run(...parameters));

  test('reads no password by changing whose it is, or which server’s', async () => {
    const id = await holdPassword(PASSWORD, 7);
    await fc.assert(
      fc.asyncProperty(anyForgery, async ([column, value]) => {
        fc.pre(value !== 'U1');
        await change(`update passwords set ${column} = ?`, value);
        await expect(store.passwords.find(id)).rejects.toThrow(/was altered/);
        await change("update passwords set creator_id = 'U1', label = 'web-1', server_id = 7");
      }),
      { numRuns: triesOf({ short: 20, long: 1000 }) },
    );
    expect((await store.passwords.find(id))?.password.reveal()).toBe(PASSWORD);
    const place = { table: 'passwords', row: id, column: 'sealed', workspaceId: 'T1' };
    // Sealed to its row alone, without its owner.
    await change("update passwords set sealed = ?, creator_id = 'U2'", vault.seal(PASSWORD, place));
    await expect(store.passwords.find(id)).rejects.toThrow(/was altered/);
  });

  test('can’t let an order for another account through by changing since when a key counts', async () => {
    await store.apiKeys.put('T1', new Secret(KEY), 'U1', T0);
    for (const [column, value] of [
      ['set_at', T0 - 1],
      ['set_by', 'U2'],
    ] as const) {
      await change(`update api_keys set ${column} = ?`, value);
      await expect(store.apiKeys.find('T1')).rejects.toThrow(/was altered/);
      await change(`update api_keys set set_at = ${T0}, set_by = 'U1'`);
    }
    expect((await store.apiKeys.find('T1'))?.key.reveal()).toBe(KEY);
  });
});
