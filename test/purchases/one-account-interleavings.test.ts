import { describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { Secret } from '../../src/core/secret.ts';
import { realSystem } from '../../src/system.ts';
import { NO_ANSWER } from '../db/fixtures.ts';
import { interleave } from '../db/interleave.ts';
import { entry, leaseOperation, newCreate, newRenew, sentBy, vault } from '../db/support.ts';
import { postgresUrl } from '../support/postgres.ts';

const now = () => realSystem.now();

interface Order {
  readonly id: string;
  readonly workspaceId: string;
  readonly key: Secret<string>;
}
type Orders = readonly [Order, Order];

/** Two workspaces with one key, or with a key each, and their confirmed creates. */
async function prepareOrders(
  store: Store,
  round: number,
  label: (workspaceId: string) => string,
  keys = [`key ${round}`, `key ${round}`],
): Promise<Orders> {
  const prepareIn = async (workspaceId: string, apiKey = ''): Promise<Order> => {
    const key = new Secret(apiKey);
    await store.apiKeys.put(workspaceId, key, 'U1', now());
    const operation = newCreate(label(workspaceId), { workspaceId, at: now() });
    await store.ledger.prepare(operation);
    return { id: operation.id, workspaceId, key };
  };
  return [await prepareIn(`A${round}`, keys[0]), await prepareIn(`B${round}`, keys[1])];
}

/** As a process does it: by taking the lease first. */
async function send(store: Store, { id, workspaceId, key }: Order) {
  const { ledger } = store;
  if (!(await leaseOperation(store, id, { owner: id, now: now(), until: now() + 60_000 }))) return 'refused';
  const account = vault.namesOf(key);
  const permit = await ledger.readPermit(workspaceId, now());
  const earlierSends = await ledger.countSends({ id, workspaceId }, account);
  return ledger.markSent(id, sentBy(id, now(), { permit, account, earlierSends }));
}

async function sendAndLose(store: Store, order: Order) {
  await send(store, order);
  const audit = entry({ workspaceId: order.workspaceId });
  await store.ledger.markUnconfirmed(order.id, { reason: NO_ANSWER }, audit);
}

const settle = (store: Store, { id, workspaceId }: Order) =>
  store.ledger.settle(id, { at: now(), serverId: 8 }, entry({ workspaceId, operationId: id }));

describe.skipIf(!postgresUrl)('two workspaces, in two processes, at every statement', () => {
  test('send one create with their API key at a time', async () => {
    await interleave({
      prepare: ([store], round) => prepareOrders(store, round, (workspaceId) => `of-${workspaceId}`),
      first: (store, [mine]) => send(store, mine),
      second: (store, [, theirs]) => send(store, theirs),
      check: async ({ first, second, at }) => {
        expect([at, [first, second].sort()]).toEqual([at, ['outdated', 'sent']]);
      },
    });
  });

  test('renew one month of their API key’s servers once', async () => {
    await interleave({
      prepare: async ([store], round) => {
        const orders = await prepareOrders(store, round, (workspaceId) => `of-${workspaceId}`);
        const renewIn = async ({ workspaceId, key }: Order): Promise<Order> => {
          const operation = newRenew(7, 1000 + round, { workspaceId, at: now() });
          await store.ledger.prepare(operation);
          return { id: operation.id, workspaceId, key };
        };
        return [await renewIn(orders[0]), await renewIn(orders[1])] as const;
      },
      first: (store, [mine]) => send(store, mine),
      second: (store, [, theirs]) => send(store, theirs),
      check: async ({ first, second, at }) => {
        expect([at, [first, second].sort()]).toEqual([at, ['outdated', 'sent']]);
      },
    });
  });

  test.each([
    { of: 'their API key', keys: undefined, label: (workspaceId: string) => `of-${workspaceId}` },
    { of: 'one label', keys: ['key-a', 'key-b'], label: () => 'web-1' },
  ])('claim one new server for creates of $of once', async ({ keys, label }) => {
    await interleave({
      prepare: async ([store], round) => {
        const own = keys?.map((key) => `${key}-${round}`);
        const orders = await prepareOrders(store, round, (id) => `${label(id)}-${round}`, own);
        for (const order of orders) await sendAndLose(store, order);
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
