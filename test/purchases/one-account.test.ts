import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import type { AccountNames } from '../../src/core/ids.ts';
import { Secret } from '../../src/core/secret.ts';
import { createVault, parseKeyring } from '../../src/db/vault.ts';
import { confirm, LIMIT, NO_ANSWER } from '../db/fixtures.ts';
import {
  engines,
  entry,
  leaseOperation,
  makeFolder,
  newCreate,
  newRenew,
  open,
  sentBy,
  T0,
  vault,
} from '../db/support.ts';
import { makeKey } from '../support/environment.ts';

const KEY = new Secret('key of T1 and T2');
const OTHER = new Secret('key of T3');

/** Orders of one store; T1 and T2 have one key, T3 has another one. */
class Orders {
  readonly store: Store;
  /** By workspace. */
  readonly names: Record<string, AccountNames>;
  readonly #namesOf: (key: Secret<string>) => AccountNames;

  constructor(store: Store, { namesOf } = vault) {
    this.store = store;
    this.#namesOf = namesOf;
    this.names = { T1: namesOf(KEY), T2: namesOf(KEY), T3: namesOf(OTHER) };
  }

  async connect() {
    for (const [id, key] of Object.entries({ T1: KEY, T2: KEY, T3: OTHER })) {
      await this.store.workspaces.put({ id, name: id });
      await this.store.apiKeys.put(id, key, 'U1', T0);
    }
  }

  async replaceKey(id: string, key: Secret<string>) {
    await this.store.apiKeys.put(id, key, 'U1', T0);
    this.names[id] = this.#namesOf(key);
  }

  nameOf(id: string): AccountNames {
    return this.names[id] ?? [''];
  }

  async create(workspaceId: string, label = 'web-1') {
    const operation = newCreate(label, { workspaceId });
    await this.store.ledger.prepare(operation);
    return operation.id;
  }

  async renew(workspaceId: string) {
    const operation = newRenew(7, T0 + 1000, { workspaceId });
    return (await confirm(this.store.ledger, operation)).operation.id;
  }

  async send(id: string, workspaceId: string, knownSends?: number) {
    const { ledger } = this.store;
    await leaseOperation(this.store, id, { owner: id, now: T0, until: T0 + 1 });
    const account = this.nameOf(workspaceId);
    const permit = await ledger.readPermit(workspaceId, T0);
    const earlierSends = knownSends ?? (await ledger.countSends({ id, workspaceId }, account));
    return ledger.markSent(id, sentBy(id, T0, { permit, account, earlierSends }));
  }

  loseAnswer(id: string, workspaceId: string) {
    return this.store.ledger.markUnconfirmed(id, { reason: NO_ANSWER }, entry({ workspaceId }));
  }

  async createUnconfirmed(workspaceId: string, label = 'web-1') {
    const id = await this.create(workspaceId, label);
    expect(await this.send(id, workspaceId)).toBe('sent');
    await this.loseAnswer(id, workspaceId);
    return id;
  }

  settle(id: string, workspaceId: string, more: Partial<Parameters<Store['ledger']['settle']>[1]> = {}) {
    return this.store.ledger.settle(id, { at: T0, serverId: 8, ...more }, entry({ workspaceId }));
  }
}

describe.each(engines)('orders of two workspaces with one API key on $name', ({ make }) => {
  let store: Store;
  let orders: Orders;
  beforeEach(async () => {
    store = await make();
    orders = new Orders(store);
    await orders.connect();
  });
  const find = (id: string) => store.ledger.find(id);

  test('are sent one at a time', async () => {
    const [mine, theirs] = [await orders.create('T1'), await orders.create('T2', 'web-2')];
    expect(await orders.send(mine, 'T1')).toBe('sent');
    expect(await orders.send(theirs, 'T2')).toBe('outdated');
    expect(await find(theirs)).toMatchObject({ state: 'prepared' });
    await orders.settle(mine, 'T1', { isFirstHand: true });
    expect(await orders.send(theirs, 'T2')).toBe('sent');
  });

  test.each([
    'settled',
    'refused',
    'unconfirmed',
  ])('are looked for again if one was sent since the look, and is %s by now', async (state) => {
    const [mine, theirs] = [await orders.create('T1'), await orders.create('T2', 'web-2')];
    const before = await store.ledger.countSends({ id: theirs, workspaceId: 'T2' }, orders.nameOf('T2'));
    await orders.send(mine, 'T1');
    if (state === 'settled') await orders.settle(mine, 'T1', { isFirstHand: true });
    else if (state === 'unconfirmed') await orders.loseAnswer(mine, 'T1');
    else await store.ledger.refuse(mine, { at: T0, reason: LIMIT, owner: mine }, entry());
    expect(await orders.send(theirs, 'T2', before)).toBe('outdated');
    expect(await find(theirs)).toMatchObject({ state: 'prepared' });
    expect(await orders.send(theirs, 'T2')).toBe('sent');
  });

  test('don’t hold up those with another API key', async () => {
    const [mine, theirs] = [await orders.create('T1'), await orders.create('T3')];
    expect([await orders.send(mine, 'T1'), await orders.send(theirs, 'T3')]).toEqual(['sent', 'sent']);
  });

  test('block their label while they are unconfirmed, also when their workspace has another API key by now, or none', async () => {
    await orders.createUnconfirmed('T1');
    await orders.replaceKey('T1', OTHER);
    expect(await orders.send(await orders.create('T2'), 'T2')).toBe('outdated');
    await store.apiKeys.remove('T1');
    expect(await orders.send(await orders.create('T2'), 'T2')).toBe('outdated');
  });

  test.each([
    'sent',
    'unconfirmed',
  ])('that are %s block their label in their own workspace after its API key was replaced', async (state) => {
    const mine = await orders.create('T1');
    await orders.send(mine, 'T1');
    if (state === 'unconfirmed') await orders.loseAnswer(mine, 'T1');
    await orders.replaceKey('T1', new Secret('new key'));
    const again = await orders.create('T1', ' WEB-1');
    expect(await orders.send(again, 'T1')).toBe('outdated');
    expect(await store.ledger.listUnresolvedCreates(orders.nameOf('T1'), 'T1')).toMatchObject([
      { id: mine, state },
    ]);
    await store.ledger.refuse(mine, { at: T0, reason: LIMIT, owner: mine }, entry());
    expect(await orders.send(again, 'T1')).toBe('sent');
  });

  test('renew one month once, until the one that has it is refused', async () => {
    const [mine, theirs, others] = [
      await orders.renew('T1'),
      await orders.renew('T2'),
      await orders.renew('T3'),
    ];
    expect(await orders.renew('T1')).toBe(mine);
    expect(await orders.send(mine, 'T1')).toBe('sent');
    expect(await orders.send(theirs, 'T2')).toBe('outdated');
    expect(await orders.send(others, 'T3')).toBe('sent');
    await orders.loseAnswer(mine, 'T1');
    expect(await orders.send(theirs, 'T2')).toBe('outdated');
    await store.ledger.refuse(mine, { at: T0, reason: LIMIT, owner: mine }, entry());
    expect(await orders.send(theirs, 'T2')).toBe('sent');
    await orders.settle(theirs, 'T2', { serverId: 7, isFirstHand: true });
    expect(await orders.send(await orders.renew('T1'), 'T1')).toBe('outdated');
  });

  test('claim one new server once, whatever their labels', async () => {
    const [mine, theirs] = [await orders.createUnconfirmed('T1'), await orders.createUnconfirmed('T2', 'db')];
    expect([await orders.settle(mine, 'T1'), await orders.settle(theirs, 'T2')]).toEqual([true, false]);
    expect(await orders.settle(theirs, 'T2', { decidedBy: 'U2' })).toBe(false);
    expect(await find(theirs)).toMatchObject({ state: 'unconfirmed' });
    expect(await orders.settle(theirs, 'T2', { serverId: 9 })).toBe(true);
  });

  test('don’t claim a server that an order with another API key and the same label has made, unless a manager says so', async () => {
    const [mine, theirs] = [await orders.createUnconfirmed('T1'), await orders.createUnconfirmed('T3')];
    expect([await orders.settle(mine, 'T1'), await orders.settle(theirs, 'T3')]).toEqual([true, false]);
    expect(await orders.settle(theirs, 'T3', { decidedBy: 'U2' })).toBe(true);
  });

  test('don’t claim a server while an order with another API key and the same label is being sent', async () => {
    const mine = await orders.createUnconfirmed('T1');
    const theirs = await orders.create('T3', 'WEB-1');
    await orders.send(theirs, 'T3');
    expect(await orders.settle(mine, 'T1')).toBe(false);
    expect(await orders.settle(theirs, 'T3', { serverId: 9, isFirstHand: true })).toBe(true);
    expect(await orders.settle(mine, 'T1')).toBe(true);
  });
});

describe('orders from before another encryption key came first', () => {
  const ring = (...ids: string[]) =>
    createVault(parseKeyring(ids.map((id) => `${id}:${makeKey(id)}`).join(',')));
  const [before, after] = [ring('old'), ring('new', 'old')];

  /** T1 has ordered; T2 has its key from an owner who connects it now. */
  async function rotate(order: (orders: Orders) => Promise<unknown>) {
    const databaseUrl = `sqlite:${makeFolder()}/vps.sqlite`;
    const first = new Orders(await open(databaseUrl, { vault: before }), before);
    await first.connect();
    await order(first);
    await first.store.close();
    const orders = new Orders(await open(databaseUrl, { vault: after }), after);
    await orders.replaceKey('T2', KEY);
    return orders;
  }

  test('still block their label, and wait for each other', async () => {
    const orders = await rotate(async (earlier) => {
      await earlier.createUnconfirmed('T1');
      expect(await earlier.send(await earlier.create('T1', 'web-2'), 'T1')).toBe('sent');
    });
    expect(await orders.send(await orders.create('T2', 'web-3'), 'T2')).toBe('outdated');
    const open = await orders.store.ledger.listUnresolvedCreates(orders.nameOf('T2'), 'T2');
    expect(open.map(({ state }) => state).sort()).toEqual(['sent', 'unconfirmed']);
    const sent = open.find(({ state }) => state === 'sent')?.id ?? '';
    await orders.settle(sent, 'T1', { isFirstHand: true });
    expect(await orders.send(await orders.create('T2'), 'T2')).toBe('outdated');
    expect(await orders.send(await orders.create('T2', 'web-4'), 'T2')).toBe('sent');
  });

  test('still have their month, and later ones are found by it, too', async () => {
    const orders = await rotate(async (earlier) => earlier.send(await earlier.renew('T1'), 'T1'));
    expect(await orders.send(await orders.renew('T2'), 'T2')).toBe('outdated');
    expect(await orders.send(await orders.renew('T3'), 'T3')).toBe('sent');
    const other = await rotate(async () => undefined);
    expect(await other.send(await other.renew('T2'), 'T2')).toBe('sent');
    expect(await other.send(await other.renew('T1'), 'T1')).toBe('outdated');
  });

  test('still block their label in a process with only the earlier key, until no API key is encrypted under that', async () => {
    const databaseUrl = `sqlite:${makeFolder()}/vps.sqlite`;
    await (await open(databaseUrl, { vault: before })).close();
    await (await open(databaseUrl, { vault: after })).close();
    const orders = new Orders(await open(databaseUrl, { vault: before }), before);
    await orders.connect();
    await orders.replaceKey('T3', KEY);
    await orders.createUnconfirmed('T1');
    const program = await open(databaseUrl, { vault: after, lock: false });
    const killed = program.sealed.reseal((count) => {
      if (count === 2) throw new Error('killed before the API key of T3');
    });
    await expect(killed).rejects.toThrow('killed');
    expect(await orders.send(await orders.create('T3'), 'T3')).toBe('outdated');
    await program.sealed.reseal(() => undefined);
    const account = after.namesOf(KEY).slice(0, 1) as [string];
    expect(await program.ledger.listUnresolvedCreates(account, 'T9')).toHaveLength(1);
  });

  test('still have the servers that they made, and share new ones with nobody', async () => {
    let mine = '';
    const orders = await rotate(async (earlier) => {
      const made = await earlier.create('T1');
      await earlier.send(made, 'T1');
      await earlier.settle(made, 'T1', { isFirstHand: true });
      mine = await earlier.createUnconfirmed('T1', 'web-2');
    });
    expect(await orders.store.ledger.listSettledIds(orders.nameOf('T2'), [8], 'T2')).toEqual([8]);
    const theirs = await orders.createUnconfirmed('T2', 'web-3');
    expect(await orders.settle(theirs, 'T2')).toBe(false);
    expect(await orders.settle(theirs, 'T2', { serverId: 9 })).toBe(true);
    expect(await orders.settle(mine, 'T1', { serverId: 9 })).toBe(false);
  });
});
