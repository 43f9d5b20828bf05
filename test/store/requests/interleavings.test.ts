import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import { ALL_KINDS, type RequestState } from '../../../src/requests/request.ts';
import { realSystem } from '../../../src/system.ts';
import { postgresUrl } from '../../support/postgres.ts';
import { interleave } from '../engine/interleave.ts';
import { entry, newApproval, newGrant, newRenew, newRoleRequest } from '../support.ts';

const now = () => realSystem.now();

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
  await store.workspaces.put({ id: workspaceId, name: 'Acme' }, now());
  const request = newRoleRequest({ workspaceId, requestedAt: now() });
  await store.requests.requestRole(request, { since: 0, most: 9 });
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
const move =
  (state: 'denied' | 'withdrawn') =>
  (store: Store, { id, workspaceId }: Asked) =>
    store.requests.move(id, ['open'], { state, by: 'U1', at: now() }, entry({ workspaceId }));
/** As if an hour had passed for this process. */
const expire = (store: Store, { id, workspaceId }: Asked) =>
  store.requests.expire(id, now() + 8 * 24 * 3_600_000, entry({ workspaceId, code: 'expired' }));

type Act = (store: Store, asked: Asked) => Promise<{ readonly state: RequestState } | undefined>;

/** A pair of which one act happens: it is audited once, and what follows from it is there. */
function oneOf(first: Act, second: Act) {
  return interleave({
    prepare: askApproval,
    first,
    second,
    check: async ({ setting: { id, workspaceId }, first: one, second: other, store, at }) => {
      const done = [one, other].filter((each) => each !== undefined);
      expect([at, done.length]).toEqual([at, 1]);
      expect(await store.requests.find(id, ALL_KINDS)).toMatchObject({ state: done[0]?.state });
      const prepared = await store.ledger.listOpen(workspaceId);
      expect([at, prepared.length]).toEqual([at, done[0]?.state === 'approved' ? 1 : 0]);
      expect(await store.audit.verify(workspaceId)).toMatchObject({ ok: true, entries: 2 });
    },
  });
}

describe.skipIf(!postgresUrl)('two processes on PostgreSQL, at every statement', () => {
  test('approve one request once', () => oneOf(approve('U8'), approve('U9')));
  test('approve or withdraw a request, never both', () => oneOf(approve('U8'), move('withdrawn')));
  test('approve or expire a request, never both', () => oneOf(approve('U8'), expire));
  test('deny or expire a request, never both', () => oneOf(move('denied'), expire));

  test.each([
    ['grant a role once', grant('U9')],
    ['grant or deny a role, never both', move('denied')],
    ['grant a role or let the request for it expire, never both', expire],
  ] as [string, Act][])('%s', async (_, other) => {
    await interleave({
      prepare: askRole,
      first: grant('U8'),
      second: other,
      check: async ({ setting: { id, workspaceId }, first, second, store, at }) => {
        const done = [first, second].filter((each) => each !== undefined);
        expect([at, done.length]).toEqual([at, 1]);
        expect(await store.requests.find(id, ALL_KINDS)).toMatchObject({ state: done[0]?.state });
        const grants = await store.grants.list(workspaceId);
        expect([at, grants.length]).toEqual([at, done[0]?.state === 'approved' ? 1 : 0]);
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
      store.requests.requestRole(request, { since: 0, most: 9 });
    await interleave({
      prepare: async ([store], round) => {
        const workspaceId = `T${round}`;
        await store.workspaces.put({ id: workspaceId, name: 'Acme' }, now());
        return [newRoleRequest({ workspaceId }), newRoleRequest({ workspaceId })] as const;
      },
      first: (store, [one]) => ask(store, one),
      second: (store, [, other]) => ask(store, other),
      check: async ({ setting: [{ workspaceId }], first, second, store, at }) => {
        expect([at, [first.kind, second.kind].sort()]).toEqual([at, ['new', 'repeated']]);
        expect(await store.requests.listOpen(workspaceId, ALL_KINDS)).toHaveLength(1);
      },
    });
  });
});
