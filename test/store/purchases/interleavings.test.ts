import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import { money } from '../../../src/core/money.ts';
import { Secret } from '../../../src/core/secret.ts';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';
import type { Permit } from '../../../src/purchases/ports.ts';
import { realSystem } from '../../../src/system.ts';
import { postgresUrl } from '../../support/postgres.ts';
import { interleave } from '../engine/interleave.ts';
import { entry, newCreate, newGrant, newRenew, sentBy } from '../support.ts';
import { NO_ANSWER } from './reasons.ts';

const now = () => realSystem.now();
const lease = (owner: string, ms = 60_000) => ({ owner, now: now(), until: now() + ms });
const order = (round: number) => newCreate('web-1', { at: now(), workspaceId: `T${round}` });
const renewal = (round: number) => newRenew(7, 1000, { at: now(), workspaceId: `T${round}` });

/** A confirmed order of a workspace of its own, with what permits it. */
async function prepareOrder([store]: readonly [Store, Store], round: number) {
  const operation = order(round);
  const { workspaceId } = operation;
  await store.workspaces.put({ id: workspaceId, name: 'Acme' }, now());
  await store.apiKeys.put(workspaceId, new Secret('key'), 'U1', now());
  const grant = await store.grants.put(newGrant({ workspaceId, role: 'manager' }));
  await store.ledger.prepare(operation);
  const permit = await store.ledger.readPermit(operation.workspaceId, now());
  return { id: operation.id, workspaceId, grant, permit };
}

interface Order {
  readonly id: string;
  readonly permit: Permit;
}

/** As a process does it: by taking the lease first. */
async function send({ ledger }: Store, { id, permit }: Order, owner: string) {
  if (!(await ledger.lease(id, lease(owner)))) return 'refused';
  return ledger.markSent(id, sentBy(owner, now(), { permit, account: [id] }));
}

/** A pair of which one sends an order, and the other changes what permits it. */
function againstSending(
  change: (store: Store, setting: Awaited<ReturnType<typeof prepareOrder>>) => Promise<unknown>,
) {
  return interleave({
    prepare: prepareOrder,
    first: (store, setting) => send(store, setting, 'sender'),
    second: change,
    check: async ({ setting, first, inside, store, at }) => {
      // The change was reported before the order was sent: then it is not sent.
      const isPermitted = inside !== 'second';
      expect([at, first]).toEqual([at, isPermitted ? first : 'outdated']);
      expect(['sent', 'outdated']).toContain(first);
      const { state } = (await store.ledger.find(setting.id)) ?? {};
      expect(state).toBe(first === 'sent' ? 'sent' : 'prepared');
    },
  });
}

describe.skipIf(!postgresUrl)('two processes on PostgreSQL, at every statement', () => {
  test('send one order at most once', async () => {
    await interleave({
      prepare: prepareOrder,
      first: (store, setting) => send(store, setting, 'a'),
      second: (store, setting) => send(store, setting, 'b'),
      check: async ({ first, second, at }) => {
        expect([at, [first, second].sort()]).toEqual([at, ['refused', 'sent']]);
      },
    });
  });

  test('send an order at most once also where one takes it over from the other', async () => {
    await interleave({
      prepare: async (stores, round) => {
        const setting = await prepareOrder(stores, round);
        await stores[0].ledger.lease(setting.id, lease('a', 0));
        return setting;
      },
      first: (store, { id, permit }) =>
        store.ledger.markSent(id, sentBy('a', now(), { permit, account: [id] })),
      second: (store, setting) => send(store, setting, 'b'),
      check: async ({ first, second, at }) => {
        expect([at, first, second]).toEqual([at, 'refused', 'sent']);
      },
    });
  });

  test('store one confirmation once', async () => {
    await interleave({
      prepare: async (_stores, round) => order(round),
      first: (store, operation) => store.ledger.prepare(operation),
      second: (store, operation) => store.ledger.prepare(operation),
      check: async ({ setting, first, second, store, at }) => {
        expect([at, [first.kind, second.kind].sort()]).toEqual([at, ['known', 'new']]);
        expect(await store.ledger.listOpen(setting.workspaceId)).toHaveLength(1);
      },
    });
  });

  test('renew one month once', async () => {
    await interleave({
      prepare: async (_stores, round) => [renewal(round), renewal(round)] as const,
      first: (store, [operation]) => store.ledger.prepare(operation),
      second: (store, [, operation]) => store.ledger.prepare(operation),
      check: async ({ setting: [{ workspaceId }], first, second, store, at }) => {
        expect([at, [first.kind, second.kind].sort()]).toEqual([at, ['known', 'new']]);
        expect(await store.ledger.listOpen(workspaceId)).toHaveLength(1);
      },
    });
  });

  test('spend one budget once', async () => {
    const budget = { since: 0, workspace: money(600) };
    await interleave({
      prepare: async ([store], round) => {
        await store.workspaces.put({ id: `T${round}`, name: 'Acme' }, now());
        return [order(round), order(round)] as const;
      },
      first: (store, [operation]) => store.ledger.prepare(operation, budget),
      second: (store, [, operation]) => store.ledger.prepare(operation, budget),
      check: async ({ setting: [{ workspaceId }], first, second, store, at }) => {
        expect([at, [first.kind, second.kind].sort()]).toEqual([at, ['new', 'over_budget']]);
        expect((await store.ledger.sumSpent(workspaceId, 'U1', 0)).workspace).toBe(499);
      },
    });
  });

  test('send nothing after the API key was replaced', () =>
    againstSending((store, { workspaceId }) =>
      store.apiKeys.put(workspaceId, new Secret('another'), 'U1', now()),
    ));

  test('send nothing after a role was revoked', () =>
    againstSending((store, { workspaceId, grant }) => store.grants.remove(workspaceId, grant.id)));

  test('send nothing after the settings were changed', () =>
    againstSending((store, { workspaceId }) =>
      store.workspaces.changeSettings(workspaceId, DEFAULT_SETTINGS, {
        ...DEFAULT_SETTINGS,
        announces: false,
      }),
    ));

  test('send or refuse an order, never both', async () => {
    await interleave({
      prepare: prepareOrder,
      first: (store, setting) => send(store, setting, 'a'),
      second: (store, { id, workspaceId }) =>
        store.ledger.refuse(
          id,
          { at: now(), reason: { code: 'stale_confirmation', details: {} } },
          entry({ workspaceId, outcome: 'failed' }),
        ),
      check: async ({ setting, first, second, store, at }) => {
        expect([at, first === 'sent', second]).toEqual([at, !second, second]);
        expect((await store.ledger.find(setting.id))?.state).toBe(second ? 'refused' : 'sent');
      },
    });
  });

  test('settle an order that another one takes over, with its password', async () => {
    await interleave({
      prepare: async (stores, round) => {
        const setting = await prepareOrder(stores, round);
        await send(stores[0], setting, 'a');
        await stores[0].ledger.release(setting.id, 'a');
        return setting;
      },
      first: (store, { id, workspaceId }) =>
        store.ledger.settle(
          id,
          { at: now(), serverId: 7, password: new Secret('secret'), isFirstHand: true },
          entry({ workspaceId, operationId: id }),
        ),
      second: async ({ ledger }, { id, workspaceId }) => {
        await ledger.lease(id, lease('b'));
        const audit = entry({ workspaceId, operationId: id, outcome: 'in_doubt' });
        return ledger.markUnconfirmed(id, { reason: NO_ANSWER }, audit);
      },
      check: async ({ setting: { id, workspaceId }, first, second, store, at }) => {
        expect([at, first]).toEqual([at, true]);
        expect(await store.ledger.find(id)).toMatchObject({ state: 'settled', serverId: 7 });
        expect((await store.passwords.find(id))?.password.reveal()).toBe('secret');
        const entries = second ? 2 : 1;
        expect(await store.audit.verify(workspaceId)).toMatchObject({ ok: true, entries });
      },
    });
  });

  test('hold one lock, and take one last slot', async () => {
    const take = (owner: string) => async (store: Store, name: string) => [
      await store.lockLeases.take({ name, owner }, 60_000),
      await store.apiCalls.take(
        { id: `${name}-${owner}`, account: [name], workspaceId: '' },
        { limit: 1, maxHoldMs: 110_000 },
      ),
    ];
    await interleave({
      prepare: async (_stores, round) => `account-${round}`,
      first: take('a'),
      second: take('b'),
      check: async ({ first, second, at }) => {
        expect([at, first[0] !== second[0], first[1] !== second[1]]).toEqual([at, true, true]);
      },
    });
  });
});
