import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import { money } from '../../../src/core/money.ts';
import type { Approvals } from '../../../src/requests/approval.ts';
import { APPROVAL_MS, type ApprovalState } from '../../../src/requests/decision.ts';
import { CANCEL_REASONS, DELETE_ENDS } from '../../../src/sandbox/gallery/fixtures/approval-reasons.ts';
import {
  confirm,
  engines,
  entry,
  makeFolder,
  newApproval,
  newCreate,
  newDelete,
  newRenew,
  open,
  T0,
} from '../support.ts';

const by = (at = T0 + 1) => ({ by: 'U9', at });
const renewal = newRenew(7, T0).purchase;
const plain = <Code extends string>(code: Code) => ({ code, details: {} });
const moved = plain('price_moved');
const done = plain('done');

/** What came of approving, where no budget stands in its way. */
async function approved(approvals: Approvals, ...how: Parameters<Approvals['approve']>) {
  const done = await approvals.approve(...how);
  if (done === 'over_budget') throw new Error('no budget was given');
  return done;
}

describe.each(engines)('approvals on $name', ({ make }) => {
  let store: Store;
  let approvals: Approvals;
  beforeEach(async () => {
    store = await make();
    approvals = store.approvals;
  });

  const countAudit = async () => (await store.audit.list({ workspaceId: 'T1', limit: 100 })).length;
  const requested = async (more: Parameters<typeof newApproval>[0] = {}) => {
    const { approval } = await approvals.request(newApproval(more), entry());
    return approval;
  };

  describe('approving', () => {
    test('a purchase prepares it for its requester, at the price that was confirmed', async () => {
      const wanted = newApproval();
      await approvals.request(wanted, entry());
      const done = await approved(approvals, wanted.id, by(), entry({ actorId: 'U9' }));
      expect(done?.approval).toStrictEqual({
        ...wanted,
        state: 'approved',
        isNotified: false,
        cards: [],
        keyGeneration: 0,
        decidedBy: 'U9',
        decidedAt: T0 + 1,
      });
      const operation = await store.ledger.find(wanted.id);
      expect(operation).toStrictEqual(done?.operation);
      expect(operation).toStrictEqual({
        ...(await confirm((await make()).ledger, newCreate('web-1', { id: wanted.id, at: T0 + 1 })))
          .operation,
      });
      expect(await store.audit.list({ workspaceId: 'T1', limit: 1 })).toMatchObject([{ actorId: 'U9' }]);
      expect(await store.jobStore.list('operation', 'T1')).toMatchObject([{ key: wanted.id }]);
    });

    test('by many at once prepares it once', async () => {
      for (let round = 0; round < 10; round++) {
        const { id } = await requested();
        const audited = await countAudit();
        const all = await Promise.all(
          ['U7', 'U8', 'U9'].map((who) => approvals.approve(id, { by: who, at: T0 + 1 }, entry())),
        );
        expect(all.filter((one) => one !== undefined)).toHaveLength(1);
        expect(await store.ledger.listOpen('T1')).toHaveLength(round + 1);
        expect(await countAudit()).toBe(audited + 1);
      }
    });

    test('and denying at the same time does one of them', async () => {
      for (let round = 0; round < 20; round++) {
        const { id } = await requested();
        const audited = await countAudit();
        const deny = () => approvals.move(id, ['open'], { state: 'denied', by: 'U8', at: T0 + 1 }, entry());
        const approve = () => approvals.approve(id, by(), entry());
        const [first, second] = await Promise.all(round % 2 ? [deny(), approve()] : [approve(), deny()]);
        expect([first, second].filter(Boolean)).toHaveLength(1);
        const state = (await approvals.find(id))?.state;
        expect(await store.ledger.find(id)).toEqual(state === 'approved' ? expect.anything() : undefined);
        expect(await countAudit()).toBe(audited + 1);
      }
    });

    test('after it has expired does nothing', async () => {
      const { id, expiresAt } = await requested();
      const audited = await countAudit();
      expect(await approvals.approve(id, by(expiresAt), entry())).toBeUndefined();
      expect(await store.ledger.find(id)).toBeUndefined();
      expect(await countAudit()).toBe(audited);
      expect(await approvals.approve(id, by(expiresAt - 1), entry())).toMatchObject({ operation: { id } });
    });

    test('a renewal of a month that was confirmed in the meantime cancels it, and pays nothing twice', async () => {
      const { id } = await requested({ action: { kind: 'purchase', purchase: renewal } });
      const paid = await confirm(store.ledger, newRenew(7, T0));
      const audited = await countAudit();
      const done = await approved(approvals, id, by(), entry({ actorId: 'U9', code: 'approved' }));
      expect(done?.operation).toEqual(paid.operation);
      expect(done?.approval).toMatchObject({
        state: 'canceled',
        reason: plain('already_renewed'),
        decidedBy: 'U9',
      });
      expect(await approvals.find(id)).toStrictEqual(done?.approval);
      expect(await store.ledger.listOpen('T1')).toHaveLength(1);
      expect(await countAudit()).toBe(audited + 1);
      expect(await store.audit.list({ workspaceId: 'T1', limit: 1 })).toMatchObject([
        { actorId: 'U9', outcome: 'failed', code: 'already_renewed' },
      ]);
    });

    test('a delete lets one process carry it out', async () => {
      const { id } = await requested({ action: newDelete(7) });
      expect(await approvals.approve(id, by(), entry())).toMatchObject({ operation: undefined });
      expect(await store.ledger.listOpen('T1')).toEqual([]);
      const takers = [1, 2, 3].map((at) => approvals.move(id, ['approved'], { state: 'running', at }));
      expect((await Promise.all(takers)).filter(Boolean)).toHaveLength(1);
      expect(await approvals.move(id, ['running'], { state: 'ended', at: T0 + 9, reason: done })).toBe(true);
      expect(await approvals.find(id)).toMatchObject({
        state: 'ended',
        reason: done,
        decidedBy: 'U9',
        decidedAt: T0 + 1,
      });
    });

    test('is undone completely if it can’t be audited', async () => {
      const { id } = await requested();
      const broken = entry({ actorId: null as unknown as string });
      await expect(approvals.approve(id, by(), broken)).rejects.toThrow();
      expect(await approvals.find(id)).toMatchObject({ state: 'open' });
      expect(await store.ledger.find(id)).toBeUndefined();
      expect(await approvals.approve(id, by(), entry())).toMatchObject({ operation: { id } });
    });

    test('a missing or closed approval does nothing', async () => {
      expect(await approvals.approve('nothing', by(), entry())).toBeUndefined();
      const closed = [
        { state: 'denied' },
        { state: 'expired' },
        { state: 'canceled', reason: moved },
      ] as const;
      for (const outcome of closed) {
        const { id } = await requested();
        await approvals.move(id, ['open'], { ...outcome, at: T0 });
        expect(await approvals.approve(id, by(), entry())).toBeUndefined();
        expect(await store.ledger.find(id)).toBeUndefined();
      }
    });
  });

  describe('approving within a budget', () => {
    const budget = (workspace: number) => ({ since: T0, workspace: money(workspace) });

    test('prepares purchases that fit, and leaves others unchanged', async () => {
      const [first, second] = [await requested(), await requested()];
      expect(await approvals.approve(first.id, { ...by(), budget: budget(499) }, entry())).toMatchObject({
        operation: { id: first.id },
      });
      const audited = await countAudit();
      expect(await approvals.approve(second.id, { ...by(), budget: budget(997) }, entry())).toBe(
        'over_budget',
      );
      expect(await approvals.find(second.id)).toEqual(second);
      expect(await store.ledger.find(second.id)).toBeUndefined();
      expect(await countAudit()).toBe(audited);
      expect(await approvals.approve(second.id, { ...by(), budget: budget(998) }, entry())).toMatchObject({
        operation: { id: second.id },
      });
    });

    test('never exceeds it, however many are approved at once', async () => {
      const all = await Promise.all([1, 2, 3, 4, 5].map(() => requested()));
      const done = await Promise.all(
        all.map(({ id }) => approvals.approve(id, { ...by(), budget: budget(1000) }, entry())),
      );
      expect(done.filter((one) => one === 'over_budget')).toHaveLength(3);
      expect((await store.ledger.sumSpent('T1', 'U1', T0)).workspace).toBe(998);
    });
  });

  describe('notifying', () => {
    const listUnnotified = async () => (await approvals.listUnnotified(T0 + 9)).map(({ id }) => id);

    test('is due for each new state until users were notified of it', async () => {
      const { id } = await requested();
      expect(await listUnnotified()).toEqual([id]);
      await approvals.markNotified(id, 'open');
      expect(await approvals.find(id)).toMatchObject({ isNotified: true });
      expect(await listUnnotified()).toEqual([]);
      await approvals.move(id, ['open'], { state: 'denied', at: T0 + 1 });
      expect(await approvals.find(id)).toMatchObject({ isNotified: false });
      await approvals.markNotified(id, 'open');
      expect(await listUnnotified()).toEqual([id]);
      await approvals.markNotified(id, 'denied');
      expect(await listUnnotified()).toEqual([]);
    });

    test('is left to the process that changed the state, for a while', async () => {
      const { id } = await requested();
      expect(await approvals.listUnnotified(T0)).toEqual([]);
      await approvals.approve(id, by(T0 + 9), entry());
      expect(await listUnnotified()).toEqual([]);
    });
  });

  describe('a change of state', () => {
    test('happens only from the expected states, and is audited only if it happened', async () => {
      const { id } = await requested();
      const audited = await countAudit();
      const from: ApprovalState[] = ['approved', 'running'];
      expect(await approvals.move(id, from, { state: 'ended', at: T0, reason: done }, entry())).toBe(false);
      expect(await approvals.move('nothing', ['open'], { state: 'denied', at: T0 }, entry())).toBe(false);
      expect(await countAudit()).toBe(audited);
      const to = { state: 'canceled', at: T0 + 5, reason: moved } as const;
      expect(await approvals.move(id, ['open', 'approved'], to, entry())).toBe(true);
      expect(await countAudit()).toBe(audited + 1);
      const found = await approvals.find(id);
      expect(found).toMatchObject({ state: 'canceled', reason: moved, decidedAt: T0 + 5 });
      expect(found).not.toHaveProperty('decidedBy');
    });
  });

  describe('lists', () => {
    test('have open approvals oldest first, by workspace', async () => {
      const young = await requested({ requestedAt: T0 + 2 });
      const old = await requested({ requestedAt: T0 + 1, action: newDelete(1) });
      await requested({ workspaceId: 'T2' });
      await approvals.approve((await requested()).id, by(), entry());
      expect(await approvals.listOpen('T1')).toEqual([old, young]);
    });

    test('have unfinished deletes that were approved or started before a given time', async () => {
      const left = [];
      for (const [serverId, state] of (['approved', 'running'] as const).entries()) {
        for (const when of [T0 - 1, T0]) {
          const { id } = await requested({ action: newDelete(serverId), requestedAt: T0 - 20 + serverId });
          await approvals.approve(id, by(T0 - 10), entry());
          await approvals.move(id, ['approved'], { state, at: when });
          if (when < T0) left.push(id);
        }
      }
      await approvals.approve((await requested()).id, by(T0 - 10), entry());
      const ended = await requested({ action: newDelete(9), requestedAt: T0 - APPROVAL_MS });
      await approvals.move(ended.id, ['open'], { state: 'denied', at: T0 - 10 });
      expect((await approvals.listUnfinishedDeletes(T0)).map(({ id }) => id)).toEqual(left);
    });
  });

  describe('reasons', () => {
    test.each(CANCEL_REASONS)('$code of a cancellation is read back with its details', async (reason) => {
      const { id } = await requested();
      await approvals.move(id, ['open'], { state: 'canceled', at: T0, reason }, entry());
      expect(await approvals.find(id)).toMatchObject({ state: 'canceled', reason });
    });

    test.each(DELETE_ENDS)('$code of an ended delete is read back with its details', async (reason) => {
      const { id } = await requested({ action: newDelete(7) });
      await approvals.move(id, ['open'], { state: 'ended', at: T0, reason }, entry());
      expect(await approvals.find(id)).toMatchObject({ state: 'ended', reason });
    });
  });

  describe('expiring', () => {
    const auditOf = ({ workspaceId }: { workspaceId: string }) => entry({ workspaceId, code: 'expired' });

    test('closes open approvals after their time, once, each with an audit entry', async () => {
      const over = await requested({ requestedAt: T0 - APPROVAL_MS, action: newDelete(7) });
      const elsewhere = await requested({ requestedAt: T0 - APPROVAL_MS, workspaceId: 'T2' });
      const open = await requested({ expiresAt: T0 + 1 });
      const denied = await requested({ requestedAt: T0 - APPROVAL_MS, action: newDelete(8) });
      await approvals.move(denied.id, ['open'], { state: 'denied', at: T0 - 10 });
      const audited = await countAudit();
      const expired = await approvals.expire(T0, auditOf);
      expect(expired.map(({ id }) => id)).toEqual([over.id, elsewhere.id]);
      expect(expired[0]).toStrictEqual({ ...over, state: 'expired', decidedAt: T0 });
      expect(await approvals.find(over.id)).toEqual(expired[0]);
      expect(await approvals.find(open.id)).toEqual(open);
      expect(await countAudit()).toBe(audited + 1);
      expect(await approvals.expire(T0, auditOf)).toEqual([]);
      // It blocks no later request about the same server.
      const again = await approvals.request(newApproval({ action: newDelete(7) }), entry());
      expect(again.isNew).toBe(true);
    });
  });
});

test('an approval survives the process that stored it, and is carried out once by the next', async () => {
  const url = `sqlite:${join(makeFolder(), 'vps.sqlite')}`;
  const first = await open(url);
  const [wanted, gone] = [newApproval(), newApproval({ action: newDelete(7) })];
  await first.approvals.request(wanted, entry());
  await first.approvals.request(gone, entry());
  await first.approvals.storeCards(wanted.id, [{ channelId: 'C1', ts: '1.1' }]);
  await first.approvals.approve(gone.id, by(), entry());
  await first.close();

  const second = await open(url);
  expect((await second.approvals.listOpen('T1')).map(({ id }) => id)).toEqual([wanted.id]);
  expect((await second.approvals.listUnfinishedDeletes(T0 + 2)).map(({ id }) => id)).toEqual([gone.id]);
  expect(await second.approvals.approve(gone.id, by(), entry())).toBeUndefined();
  const done = await approved(second.approvals, wanted.id, by(), entry());
  expect(done).toMatchObject({ approval: { cards: [{ ts: '1.1' }] }, operation: { price: money(499) } });
  await second.close();

  const third = await open(url);
  expect(await third.approvals.approve(wanted.id, by(), entry())).toBeUndefined();
  expect(await third.ledger.listOpen('T1')).toEqual([done?.operation]);
});
