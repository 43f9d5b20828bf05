import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import {
  ALL_KINDS,
  APPROVAL_MS,
  APPROVALS,
  REQUEST,
  type RequestState,
  ROLES_ASKED,
} from '../../src/requests/request.ts';
import {
  engines,
  entry,
  newApproval,
  newDelete,
  newGrant,
  newRenew,
  newRoleRequest,
  T0,
} from '../db/support.ts';

const renewal = { kind: 'purchase', purchase: newRenew(7, T0).purchase } as const;
const by = (at = T0 + 1) => ({ by: 'U9', at });

describe.each(engines)('requests on $name', ({ make }) => {
  let store: Store;
  beforeEach(async () => {
    store = await make();
  });

  const find = (id: string) => store.requests.find(id, ALL_KINDS);
  const countAudit = async () => (await store.audit.list({ workspaceId: 'T1', limit: 100 })).length;
  const ids = (requests: readonly { id: string }[]) => requests.map(({ id }) => id);
  /** Makes a request of each kind: the same user's, as often as it is called. */
  const make3 = async (more: { requestedAt?: number; workspaceId?: string } = {}) => {
    const { requestedAt = T0 } = more;
    const expiresAt = requestedAt + APPROVAL_MS;
    const approvals = [newApproval(more), newApproval({ ...more, ...newDelete(7) })];
    const audit = entry({ workspaceId: more.workspaceId ?? 'T1' });
    for (const approval of approvals) await store.requests.requestApproval(approval, audit);
    const role = newRoleRequest({ ...more, expiresAt });
    await store.requests.requestRole(role, requestedAt);
    return [...approvals, role];
  };

  test.each([
    ['a create', newApproval({ isOverBudget: true })],
    ['a renewal', newApproval(renewal)],
    ['a delete', newApproval({ kind: 'delete', serverId: 3, label: 'web-1', paidUntil: T0 })],
    ['a role', newRoleRequest({ command: 'reboot web-1' })],
  ])('keep %s as it was asked for, with the cards', async (_, wanted) => {
    if (wanted.kind === 'role') await store.requests.requestRole(wanted, 0);
    else await store.requests.requestApproval(wanted, entry());
    const account = wanted.kind === 'role' ? {} : { account: '' };
    const request = { ...wanted, ...account, state: 'open', isNotified: false, cards: [] };
    expect(await find(wanted.id)).toEqual(request);
    const cards = [
      { channelId: 'D1', ts: '1.1' },
      { channelId: 'D2', ts: '1.2' },
    ];
    await store.requests.storeCards(wanted.id, cards);
    expect(await find(wanted.id)).toEqual({ ...request, cards });
    expect(await find('nothing')).toBeUndefined();
  });

  test('are found by the kinds that are looked for: an approval is no role, and a role approves nothing', async () => {
    const [create, deletion, role] = ids(await make3());
    for (const id of [create, deletion]) {
      expect(await store.requests.find(id ?? '', APPROVALS)).toMatchObject({ id });
      expect(await store.requests.find(id ?? '', ROLES_ASKED)).toBeUndefined();
      await expect(store.requests.grantRole(id ?? '', { ...by(), grant: newGrant() })).rejects.toThrow();
    }
    expect(await store.requests.find(role ?? '', APPROVALS)).toBeUndefined();
    await expect(store.requests.approve(role ?? '', by(), entry())).rejects.toThrow();
    for (const id of [create, deletion, role]) expect(await find(id ?? '')).toMatchObject({ state: 'open' });
    expect(await store.grants.list('T1')).toEqual([]);
    expect(await store.ledger.listOpen('T1')).toEqual([]);
  });

  test('never share an ID with one of another workspace or of another kind', async () => {
    const [create, , role] = await make3();
    const id = create?.id ?? '';
    const asRole = newRoleRequest({ id, role: 'viewer' });
    await expect(store.requests.requestRole(asRole, 0)).rejects.toThrow(/belongs to/);
    const asApproval = newApproval({ id: role?.id ?? '' });
    await expect(store.requests.requestApproval(asApproval, entry())).rejects.toThrow(/belongs to/);
    const elsewhere = newApproval({ id, workspaceId: 'T2' });
    await expect(store.requests.requestApproval(elsewhere, entry())).rejects.toThrow(/another workspace/);
    const roleElsewhere = newRoleRequest({ id: role?.id ?? '', workspaceId: 'T2' });
    await expect(store.requests.requestRole(roleElsewhere, 0)).rejects.toThrow(/another workspace/);
  });

  test('change their state from the expected states, before they expire, and are audited only if they did', async () => {
    const broken = entry({ actorId: null as unknown as string });
    for (const { id, expiresAt } of await make3()) {
      const audited = await countAudit();
      const from: RequestState[] = ['approved', 'denied'];
      const denied = { state: 'denied', ...by(), denialReason: 'No.' } as const;
      expect(await store.requests.move(id, from, denied, entry())).toBeUndefined();
      expect(await store.requests.move('nothing', ['open'], denied, entry())).toBeUndefined();
      const late = { ...denied, at: expiresAt };
      expect(await store.requests.move(id, ['open'], late, entry())).toBeUndefined();
      await expect(store.requests.move(id, ['open'], denied, broken)).rejects.toThrow();
      expect(await find(id)).toMatchObject({ state: 'open' });
      expect(await countAudit()).toBe(audited);
      const moved = await store.requests.move(id, ['open', 'approved'], denied, entry());
      const facts = { state: 'denied', decidedBy: 'U9', decidedAt: T0 + 1, denialReason: 'No.' };
      expect(moved).toMatchObject({ ...facts, isNotified: false });
      expect(await find(id)).toEqual(moved);
      expect(await countAudit()).toBe(audited + 1);
      expect(await store.requests.move(id, ['open'], { ...denied, state: 'withdrawn' })).toBeUndefined();
    }
  });

  describe('their jobs', () => {
    const listJobs = async () => (await store.jobStore.list(REQUEST, 'T1')).map(({ key }) => key);
    /** Ends the job, as after everybody was notified. */
    const endJob = async (id: string) => {
      const [job] = (await store.jobStore.list(REQUEST, 'T1')).filter(({ key }) => key === id);
      if (job) await store.jobStore.end(job, undefined, 0);
    };

    test('are asked for by each change of state, and by nothing else', async () => {
      const all = await make3();
      for (const { id, kind, expiresAt } of all) {
        const acts: (() => Promise<unknown>)[] = [
          () => store.requests.move(id, ['open'], { state: 'denied', at: T0 }),
          () => store.requests.move(id, ['denied'], { state: 'open', at: T0 }),
          () =>
            kind === 'role'
              ? store.requests.grantRole(id, { ...by(), grant: newGrant() })
              : store.requests.approve(id, by(), entry()),
          () => store.requests.move(id, ['approved'], { state: 'open', at: T0 }),
          () => store.requests.move(id, ['open'], { state: 'expired', at: expiresAt }, entry()),
        ];
        for (const act of acts) {
          expect(await listJobs()).toContain(id);
          await endJob(id);
          await store.requests.storeCards(id, []);
          await store.requests.markNotified(id, 'open');
          expect(await store.requests.move(id, ['withdrawn'], { state: 'denied', at: T0 })).toBeUndefined();
          expect(
            await store.requests.move(id, ['open'], { state: 'expired', at: expiresAt - 1 }, entry()),
          ).toBeUndefined();
          expect(await listJobs()).not.toContain(id);
          expect(await act()).toBeDefined();
        }
        expect(await listJobs()).toContain(id);
      }
    });

    test('have told of the state that was notified, and of no later one', async () => {
      for (const { id } of await make3()) {
        await store.requests.markNotified(id, 'open');
        expect(await find(id)).toMatchObject({ isNotified: true });
        await store.requests.move(id, ['open'], { state: 'denied', at: T0 + 5 });
        await store.requests.markNotified(id, 'open');
        expect(await find(id)).toMatchObject({ isNotified: false });
        await store.requests.markNotified(id, 'denied');
        expect(await find(id)).toMatchObject({ isNotified: true });
      }
    });
  });
});
