import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import { Secret } from '../../../src/core/secret.ts';
import { createVault, parseKeyring } from '../../../src/db/vault.ts';
import type { Accounts } from '../../../src/hosting/hosting-api.ts';
import { makeKey } from '../../support/keys.ts';
import { engines, makeFolder, markSent, newCreate, open, T0 } from '../support.ts';

const WEB = { id: 7, label: 'web-1', ipv4: '198.18.0.7' };
const KEY_A = new Secret('key-a');
const KEY_B = new Secret('key-b');

describe.each(engines)('hosting accounts on $name', ({ make }) => {
  let store: Store;
  let accounts: Accounts;
  let [a, b] = ['', ''];
  beforeEach(async () => {
    store = await make();
    accounts = store.accounts;
    await store.apiKeys.put('T1', KEY_A, 'U1', T0);
    await store.apiKeys.put('T2', KEY_B, 'U1', T0);
    [a, b] = [accounts.nameOf(KEY_A), accounts.nameOf(KEY_B)];
  });

  test('are one for workspaces with the same key, and separate for different keys', async () => {
    await store.apiKeys.put('T3', new Secret('key-a'), 'U1', T0);
    expect(await accounts.listWorkspaces(a)).toEqual(['T1', 'T3']);
    expect(await accounts.find(a)).not.toBe(await accounts.find(b));
    expect(a).not.toContain('key-a');
  });

  test('are one account from then on once they are joined, in whichever order', async () => {
    await store.apiKeys.put('T3', new Secret('key-c'), 'U1', T0);
    const c = accounts.nameOf(new Secret('key-c'));
    expect([await accounts.join(b, c), await accounts.join(a, b), await accounts.join(c, a)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(new Set(await Promise.all([a, b, c].map((name) => accounts.find(name)))).size).toBe(1);
  });

  test('show a sign of being one if a server has the same ID, label and address, and no other', async () => {
    expect(await accounts.see(a, [WEB, { id: 8, label: 'db-1', ipv4: '198.18.0.8' }])).toEqual([]);
    const others = [
      { ...WEB, id: 9 },
      { ...WEB, label: 'web-2' },
      { ...WEB, ipv4: '198.18.0.9' },
      { id: 8, label: 'web-1', ipv4: '198.18.0.8' },
    ];
    for (const other of others) expect(await accounts.see(b, [other])).toEqual([]);
    expect(await accounts.see(b, [WEB])).toEqual([a]);
    expect(await accounts.find(a)).not.toBe(await accounts.find(b));
  });

  test('show no sign with what they no longer have', async () => {
    await accounts.see(a, [WEB]);
    await accounts.see(a, []);
    expect(await accounts.see(b, [WEB])).toEqual([]);
  });

  test('leave nothing to be compared with once no workspace has the key', async () => {
    await accounts.see(a, [WEB]);
    await store.apiKeys.put('T1', new Secret('another'), 'U1', T0);
    expect(await accounts.see(b, [WEB])).toEqual([]);
    expect(await accounts.see(a, [WEB])).toBeUndefined();
    await accounts.see(b, [WEB]);
    await store.apiKeys.remove('T2');
    await store.apiKeys.put('T3', KEY_A, 'U1', T0);
    expect(await accounts.see(a, [WEB])).toEqual([]);
  });

  test('have one minute together: slots that were taken under either key count', async () => {
    const take = (id: string, account: string) =>
      store.apiCalls.take({ id, account }, { limit: 3, maxHoldMs: 110_000 });
    expect([await take('1', a), await take('2', b), await take('3', b)]).toEqual([true, true, true]);
    await accounts.join(a, b);
    expect([await take('4', a), await take('5', b)]).toEqual([false, false]);
    expect(await store.apiCalls.listTaken(b)).toEqual(['1', '2', '3']);
    await store.apiCalls.release(['2']);
    expect([await take('6', b), await take('7', a)]).toEqual([true, false]);
  });
});

describe('a key of the hosting API', () => {
  const ring = (...ids: string[]) =>
    createVault(parseKeyring(ids.map((id) => `${id}:${makeKey(id)}`).join(',')));

  test('opens the same account after another encryption key comes first', async () => {
    const databaseUrl = `sqlite:${makeFolder()}/vps.sqlite`;
    const before = await open(databaseUrl, { vault: ring('old') });
    const order = newCreate();
    await before.ledger.prepare(order);
    await markSent(before.ledger, order.id, T0, [], before.accounts.nameOf(KEY_A));
    await before.apiKeys.put('T1', KEY_A, 'U1', T0);
    await before.close();
    const after = await open(databaseUrl, { vault: ring('new', 'old') });
    const name = after.accounts.nameOf(KEY_A);
    expect(await after.ledger.listUnresolvedCreates(name, 'T9')).toEqual([]);
    await after.apiKeys.find('T1');
    expect(await after.ledger.listUnresolvedCreates(name, 'T9')).toMatchObject([{ id: order.id }]);
    expect(await after.accounts.listWorkspaces(name)).toEqual(['T1']);
  });

  test('opens the same account after an update from a version that had other names', async () => {
    const databaseUrl = `sqlite:${makeFolder()}/vps.sqlite`;
    const store = await open(databaseUrl, { vault: ring('k') });
    const order = newCreate();
    await store.ledger.prepare(order);
    // 64 bits of its SHA-256.
    await markSent(store.ledger, order.id, T0, [], ring('k').namesOf('key-a').at(-1));
    await store.apiKeys.put('T2', KEY_A, 'U1', T0);
    const name = store.accounts.nameOf(KEY_A);
    expect(await store.ledger.listUnresolvedCreates(name, 'T2')).toMatchObject([{ id: order.id }]);
  });
});
