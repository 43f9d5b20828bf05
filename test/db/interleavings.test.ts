import { describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { money } from '../../src/core/money.ts';
import { Secret } from '../../src/core/secret.ts';
import { DEFAULT_SETTINGS } from '../../src/core/settings.ts';
import type { Permit } from '../../src/purchases/ledger.ts';
import type { NewOperation } from '../../src/purchases/operation.ts';
import { ALL_KINDS, type RequestState } from '../../src/requests/request.ts';
import { realSystem } from '../../src/system.ts';
import { postgresUrl } from '../support/postgres.ts';
import { interleave } from './interleave.ts';
import {
  entry,
  leaseOperation,
  NO_ANSWER,
  newApproval,
  newCreate,
  newGrant,
  newRenew,
  newRoleRequest,
  sentBy,
} from './support.ts';

const now = () => realSystem.now();
const lease = (owner: string, ms = 60_000) => ({ owner, now: now(), until: now() + ms });
const order = (round: number) => newCreate('web-1', { at: now(), workspaceId: `T${round}` });
const renewal = (round: number) => newRenew(7, 1000, { at: now(), workspaceId: `T${round}` });

/** A confirmed order of a workspace of its own, with what permits it. */
async function prepareOrder([store]: readonly [Store, Store], round: number) {
  const operation = order(round);
  const { workspaceId } = operation;
  await store.workspaces.put({ id: workspaceId, name: 'Acme' });
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
async function send(store: Store, { id, permit }: Order, owner: string) {
  if (!(await leaseOperation(store, id, lease(owner)))) return 'refused';
  return store.ledger.markSent(id, sentBy(owner, now(), { permit, account: [id] }));
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
        await leaseOperation(stores[0], setting.id, lease('a', 0));
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

  const pairOf = (make: typeof order) => (round: number) => [make(round), make(round)] as const;

  test.each([
    {
      name: 'store one confirmation once',
      make: (round: number) => Array<NewOperation>(2).fill(order(round)),
      loses: 'known',
    },
    { name: 'renew one month once', make: pairOf(renewal), loses: 'known' },
    {
      name: 'spend one budget once',
      make: pairOf(order),
      budget: { since: 0, workspace: money(600) },
      loses: 'over_budget',
    },
  ])('$name', async ({ make, budget, loses }) => {
    const prepare = ({ ledger }: Store, operation: NewOperation | undefined) =>
      ledger.prepare(operation as NewOperation, budget);
    await interleave({
      prepare: async ([store], round) => {
        await store.workspaces.put({ id: `T${round}`, name: 'Acme' });
        return make(round);
      },
      first: (store, [operation]) => prepare(store, operation),
      second: (store, [, operation]) => prepare(store, operation),
      check: async ({ setting: [operation], first, second, store, at }) => {
        expect([at, [first.kind, second.kind].sort()]).toEqual([at, ['new', loses].sort()]);
        expect(await store.ledger.listOpen(operation?.workspaceId ?? '')).toHaveLength(1);
      },
    });
  });

  test('send nothing after the API key was replaced', () =>
    againstSending((store, { workspaceId }) =>
      store.apiKeys.put(workspaceId, new Secret('another'), 'U1', now()),
    ));

  test('send nothing after a role was revoked', () =>
    againstSending((store, { workspaceId, grant }) =>
      store.grants.remove(workspaceId, { grantId: grant.id }),
    ));

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
        await stores[0].jobStore.giveBack('a');
        return setting;
      },
      first: (store, { id, workspaceId }) =>
        store.ledger.settle(
          id,
          { at: now(), serverId: 7, password: new Secret('secret'), isFirstHand: true },
          entry({ workspaceId, operationId: id }),
        ),
      second: async (store, { id, workspaceId }) => {
        await leaseOperation(store, id, lease('b'));
        const audit = entry({ workspaceId, operationId: id, outcome: 'in_doubt' });
        return store.ledger.markUnconfirmed(id, { reason: NO_ANSWER }, audit);
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

  test('lease one job, and take one last slot', async () => {
    const take = (owner: string) => async (store: Store, name: string) => [
      (await store.jobStore.lease('installation', name, lease(owner))) !== undefined,
      await store.apiCalls.take(
        { id: `${name}-${owner}`, account: [name], workspaceId: '' },
        { limit: 1, maxHoldMs: 110_000 },
      ),
    ];
    await interleave({
      prepare: async ([store], round) => {
        const name = `account-${round}`;
        await store.jobStore.add({ kind: 'installation', key: name, workspaceId: 'T1', dueAt: now() });
        return name;
      },
      first: take('a'),
      second: take('b'),
      check: async ({ first, second, at }) => {
        expect([at, first[0] !== second[0], first[1] !== second[1]]).toEqual([at, true, true]);
      },
    });
  });
});

interface Asked {
  readonly id: string;
  readonly workspaceId: string;
}

async function askApproval([store]: readonly [Store, Store], round: number): Promise<Asked> {
  const approval = newApproval({ workspaceId: `T${round}`, requestedAt: now() });
  await store.requests.requestApproval(approval, entry({ workspaceId: approval.workspaceId }));
  return approval;
}

async function askRole([store]: readonly [Store, Store], round: number): Promise<Asked> {
  const workspaceId = `T${round}`;
  await store.workspaces.put({ id: workspaceId, name: 'Acme' });
  const request = newRoleRequest({ workspaceId, requestedAt: now() });
  await store.requests.requestRole(request, 0);
  return request;
}

const approve =
  (by: string) =>
  (store: Store, { id, workspaceId }: Asked) =>
    store.requests.approve(id, { by, at: now() }, entry({ workspaceId, actorId: by }));
const grant =
  (by: string) =>
  (store: Store, { id, workspaceId }: Asked) =>
    store.requests.grantRole(id, { by, at: now(), grant: newGrant({ workspaceId }) });
const deny = (store: Store, { id, workspaceId }: Asked) =>
  store.requests.move(id, ['open'], { state: 'denied', by: 'U1', at: now() }, entry({ workspaceId }));

/** As if an hour had passed for this process. */
const expire = (store: Store, { id, workspaceId }: Asked) =>
  store.requests.move(
    id,
    ['open'],
    { state: 'expired', at: now() + 8 * 24 * 3_600_000 },
    entry({ workspaceId, code: 'expired' }),
  );

type Act = (store: Store, asked: Asked) => Promise<{ readonly state: RequestState } | undefined>;

describe.skipIf(!postgresUrl)('two processes on PostgreSQL, at every statement', () => {
  // One of the two acts happens, and what follows from it is there once.
  test.each<[string, typeof askRole, Act, Act]>([
    ['approve one request once', askApproval, approve('U8'), approve('U9')],
    ['approve or expire a request, never both', askApproval, approve('U8'), expire],
    ['approve or deny a request, never both', askApproval, approve('U8'), deny],
    ['grant a role once', askRole, grant('U8'), grant('U9')],
    ['grant or deny a role, never both', askRole, grant('U8'), deny],
  ])('%s', async (_, prepare, first, second) => {
    await interleave({
      prepare,
      first,
      second,
      check: async ({ setting: { id, workspaceId }, first: one, second: other, store, at }) => {
        const done = [one, other].filter((each) => each !== undefined);
        expect([at, done.length]).toEqual([at, 1]);
        expect(await store.requests.find(id, ALL_KINDS)).toMatchObject({ state: done[0]?.state });
        const orders = await store.ledger.listOpen(workspaceId);
        const grants = await store.grants.list(workspaceId);
        const isApproved = done[0]?.state === 'approved';
        expect([at, orders.length + grants.length]).toEqual([at, isApproved ? 1 : 0]);
        // The entry audits that a role was requested and granted.
        if (prepare === askApproval)
          expect(await store.audit.verify(workspaceId)).toMatchObject({ ok: true, entries: 2 });
      },
    });
  });

  test('request the approval of one month once', async () => {
    const ask = (store: Store, { id, workspaceId }: Asked) => {
      const { purchase } = newRenew(7, 1000);
      const approval = newApproval({ id, workspaceId, requestedAt: now(), kind: 'purchase', purchase });
      return store.requests.requestApproval(approval, entry({ workspaceId }));
    };
    await interleave({
      prepare: async (_stores, round) =>
        [newApproval(), newApproval()].map(({ id }) => ({ id, workspaceId: `T${round}` })),
      first: (store, [one]) => ask(store, one as Asked),
      second: (store, [, other]) => ask(store, other as Asked),
      check: async ({ setting, first, second, store, at }) => {
        expect([at, [first.isNew, second.isNew].sort()]).toEqual([at, [false, true]]);
        expect(first.approval.id).toBe(second.approval.id);
        const open = await store.requests.listOpen(setting[0]?.workspaceId ?? '', ALL_KINDS);
        expect(open).toHaveLength(1);
      },
    });
  });

  test('request one role once', async () => {
    const ask = (store: Store, request: Parameters<Store['requests']['requestRole']>[0]) =>
      store.requests.requestRole(request, 0);
    await interleave({
      prepare: async ([store], round) => {
        const workspaceId = `T${round}`;
        await store.workspaces.put({ id: workspaceId, name: 'Acme' });
        return [newRoleRequest({ workspaceId }), newRoleRequest({ workspaceId })] as const;
      },
      first: (store, [one]) => ask(store, one),
      second: (store, [, other]) => ask(store, other),
      check: async ({ setting: [{ workspaceId }], first, second, store, at }) => {
        expect([at, [first.isNew, second.isNew].sort()]).toEqual([at, [false, true]]);
        expect(await store.requests.listOpen(workspaceId, ALL_KINDS)).toHaveLength(1);
      },
    });
  });
});
