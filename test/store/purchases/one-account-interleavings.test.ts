import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import { Secret } from '../../../src/core/secret.ts';
import { realSystem } from '../../../src/system.ts';
import { postgresUrl } from '../../support/postgres.ts';
import { interleave } from '../engine/interleave.ts';
import { entry, newCreate, newRenew, sentBy } from '../support.ts';
import { NO_ANSWER } from './reasons.ts';

const now = () => realSystem.now();

interface Order {
  readonly id: string;
  readonly workspaceId: string;
  readonly account: string;
}
type Orders = readonly [Order, Order];

/** Two workspaces with different keys, each with a confirmed order; `isJoined` if they are known to have one account. */
async function prepareOrders(
  store: Store,
  round: number,
  isJoined: boolean,
  kind: 'create' | 'renew' = 'create',
) {
  const prepareIn = async (workspaceId: string): Promise<Order> => {
    const key = new Secret(`key of ${workspaceId}`);
    await store.apiKeys.put(workspaceId, key, 'U1', now());
    const more = { workspaceId, at: now() };
    const operation = kind === 'create' ? newCreate(`of-${workspaceId}`, more) : newRenew(7, 1000, more);
    await store.ledger.prepare(operation);
    return { id: operation.id, workspaceId, account: store.accounts.nameOf(key) };
  };
  const orders: Orders = [await prepareIn(`A${round}`), await prepareIn(`B${round}`)];
  if (isJoined) await join(store, orders);
  return orders;
}

const join = (store: Store, [a, b]: Orders) => store.accounts.join(a.account, b.account);

/** As a process does it: by taking the lease first. */
async function send({ ledger }: Store, { id, workspaceId, account }: Order) {
  if (!(await ledger.lease(id, { owner: id, now: now(), until: now() + 60_000 }))) return 'refused';
  const versions = await ledger.readVersions(workspaceId);
  return ledger.markSent(id, sentBy(id, now(), { versions, account }));
}

const ONE_WAITS = ['outdated', 'sent'];

describe.skipIf(!postgresUrl)('two workspaces with one account, in two processes, at every statement', () => {
  test('send one create at a time', async () => {
    await interleave({
      prepare: ([store], round) => prepareOrders(store, round, true),
      first: (store, [mine]) => send(store, mine),
      second: (store, [, theirs]) => send(store, theirs),
      check: async ({ first, second, at }) => {
        expect([at, [first, second].sort()]).toEqual([at, ONE_WAITS]);
      },
    });
  });

  test('send one create at a time from the moment in which it is found out', async () => {
    await interleave({
      prepare: ([store], round) => prepareOrders(store, round, false),
      first: (store, [mine]) => send(store, mine),
      second: async (store, orders) => {
        await join(store, orders);
        return send(store, orders[1]);
      },
      check: async ({ first, second, at }) => {
        expect([at, [first, second].sort()]).toEqual([at, ONE_WAITS]);
      },
    });
  });

  test('renew one month once, whichever confirmed it when', async () => {
    await interleave({
      prepare: async ([store], round) => {
        const orders = await prepareOrders(store, round, true);
        return orders.map(({ workspaceId }) => newRenew(7, 1000, { workspaceId, at: now() }));
      },
      first: (store, [mine]) => store.ledger.prepare(mine ?? newRenew()),
      second: (store, [, theirs]) => store.ledger.prepare(theirs ?? newRenew()),
      check: async ({ first, second, at }) => {
        expect([at, [first.kind, second.kind].sort()]).toEqual([at, ['claimed_elsewhere', 'new']]);
      },
    });
  });

  test('pay one month once, although both confirmed it before it was found out', async () => {
    await interleave({
      prepare: async ([store], round) => {
        const orders = await prepareOrders(store, round, false, 'renew');
        await join(store, orders);
        return orders;
      },
      first: (store, [mine]) => send(store, mine),
      second: (store, [, theirs]) => send(store, theirs),
      check: async ({ first, second, at }) => {
        expect([at, [first, second].sort()]).toEqual([at, ONE_WAITS]);
      },
    });
  });

  test('claim one new server once', async () => {
    const settle = (store: Store, { id, workspaceId }: Order) =>
      store.ledger.settle(id, { at: now(), serverId: 8 }, entry({ workspaceId, operationId: id }));
    await interleave({
      prepare: async ([store], round) => {
        const orders = await prepareOrders(store, round, false);
        for (const order of orders) {
          await send(store, order);
          const audit = entry({ workspaceId: order.workspaceId });
          await store.ledger.markUnconfirmed(order.id, { reason: NO_ANSWER }, audit);
        }
        await join(store, orders);
        return orders;
      },
      first: (store, [mine]) => settle(store, mine),
      second: (store, [, theirs]) => settle(store, theirs),
      check: async ({ first, second, at }) => {
        expect([at, [first, second].sort()]).toEqual([at, [false, true]]);
      },
    });
  });
});
