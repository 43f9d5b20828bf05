import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { money } from '../../src/core/money.ts';
import { Secret } from '../../src/core/secret.ts';
import { SEND_WITHIN_MS } from '../../src/purchases/operation.ts';
import { APPROVALS } from '../../src/requests/request.ts';
import type { Requests } from '../../src/requests/store.ts';
import { confirm, engines, entry, newApproval, newCreate, newDelete, newRenew, T0 } from '../db/support.ts';

const by = (at = T0 + 1) => ({ by: 'U9', at });
const renewal = { kind: 'purchase', purchase: newRenew(7, T0).purchase } as const;

describe.each(engines)('approvals on $name', ({ make }) => {
  let store: Store;
  let requests: Requests;
  beforeEach(async () => {
    store = await make();
    requests = store.requests;
  });

  const countAudit = async () => (await store.audit.list({ workspaceId: 'T1', limit: 100 })).length;
  const requested = async (more: Parameters<typeof newApproval>[0] = {}) => {
    const { approval } = await requests.requestApproval(newApproval(more), entry());
    return approval;
  };

  describe('approving', () => {
    test('a purchase prepares it for its requester, at the price that was confirmed', async () => {
      const wanted = newApproval();
      await requests.requestApproval(wanted, entry());
      const done = await requests.approve(wanted.id, by(), entry({ actorId: 'U9' }));
      expect(done).toEqual({
        ...wanted,
        state: 'approved',
        isNotified: false,
        cards: [],
        account: '',
        decidedBy: 'U9',
        decidedAt: T0 + 1,
      });
      const operation = await store.ledger.find(wanted.id);
      expect(operation).toEqual({
        ...(await confirm((await make()).ledger, newCreate('web-1', { id: wanted.id, at: T0 + 1 })))
          .operation,
      });
      expect(await store.audit.list({ workspaceId: 'T1', limit: 1 })).toMatchObject([{ actorId: 'U9' }]);
      expect(await store.jobStore.list('operation', 'T1')).toMatchObject([{ key: wanted.id }]);
    });

    test('a renewal of a month that was confirmed in the meantime cancels it, and pays nothing twice', async () => {
      const { id } = await requested(renewal);
      const paid = await confirm(store.ledger, newRenew(7, T0));
      const audited = await countAudit();
      const done = await requests.approve(id, by(), entry({ actorId: 'U9', code: 'approved' }));
      expect(await store.ledger.listOpen('T1')).toEqual([paid.operation]);
      expect(done).toMatchObject({
        state: 'canceled',
        reason: 'already_renewed',
        decidedBy: 'U9',
      });
      expect(await requests.find(id, APPROVALS)).toEqual(done);
      expect(await countAudit()).toBe(audited + 1);
      expect(await store.audit.list({ workspaceId: 'T1', limit: 1 })).toMatchObject([
        { actorId: 'U9', outcome: 'failed', code: 'already_renewed' },
      ]);
    });

    test('a delete prepares its operation, with the key that it was requested under and its beginning in the audit', async () => {
      await store.apiKeys.put('T1', new Secret('first'), 'U9', T0);
      const wanted = { kind: 'delete', serverId: 7, label: 'web-1', paidUntil: T0 } as const;
      const { id, account } = await requested(wanted);
      await store.apiKeys.put('T1', new Secret('other'), 'U9', T0);
      const audited = await countAudit();
      expect(await requests.approve(id, by(), entry())).toMatchObject({ state: 'approved' });
      const times = { createdAt: T0 + 1, sendBy: T0 + 1 + SEND_WITHIN_MS };
      const operation = { actorId: 'U1', state: 'prepared', account, deletion: wanted, ...times };
      expect(await store.ledger.findDelete(id)).toMatchObject(operation);
      expect(await requests.find(id, APPROVALS)).toMatchObject({ state: 'approved', deletion: operation });
      expect(await store.ledger.listOpen('T1')).toEqual([]);
      expect(await countAudit()).toBe(audited + 2);
      const [begun] = await store.audit.list({ workspaceId: 'T1', limit: 1 });
      expect(begun).toMatchObject({ action: 'delete', outcome: 'started', actId: id, serverId: 7 });
    });

    test('is undone completely if it can’t be audited', async () => {
      const { id } = await requested();
      const broken = entry({ actorId: null as unknown as string });
      await expect(requests.approve(id, by(), broken)).rejects.toThrow();
      expect(await requests.find(id, APPROVALS)).toMatchObject({ state: 'open' });
      expect(await store.ledger.find(id)).toBeUndefined();
      expect(await requests.approve(id, by(), entry())).toMatchObject({ id, state: 'approved' });
    });
  });

  describe('approving within a budget', () => {
    test('never exceeds it, however many are approved at once, and audits why the others are canceled', async () => {
      const budget = { since: T0, workspace: money(1000) };
      const all = await Promise.all([1, 2, 3, 4, 5].map(() => requested()));
      const done = await Promise.all(all.map(({ id }) => requests.approve(id, { ...by(), budget }, entry())));
      expect(done.filter((one) => one?.state === 'canceled')).toHaveLength(3);
      const audited = await store.audit.list({ workspaceId: 'T1', limit: 99 });
      expect(
        audited.filter(({ outcome, code }) => `${outcome} ${code}` === 'failed over_budget'),
      ).toHaveLength(3);
      expect((await store.ledger.sumSpent('T1', 'U1', T0)).workspace).toBe(998);
    });
  });

  describe('requesting', () => {
    test('twice makes one approval, audited once, and returns its current state however late', async () => {
      const wanted = newApproval();
      const ask = () => requests.requestApproval(wanted, entry());
      const both = await Promise.all([ask(), ask()]);
      expect(both.map(({ isNew }) => isNew).sort()).toEqual([false, true]);
      expect(await countAudit()).toBe(1);
      await requests.move(wanted.id, ['open'], { state: 'denied', ...by() });
      expect(await ask()).toMatchObject({ isNew: false, approval: { state: 'denied' } });
    });

    test.each([
      ['the delete of one server', newDelete(7), newDelete(8)],
      [
        'one month of a server',
        renewal,
        { kind: 'purchase', purchase: newRenew(7, T0 + 1).purchase } as const,
      ],
    ])('%s by two users makes one card; something else, another', async (_, action, other) => {
      const ask = (more: Parameters<typeof newApproval>[0], audit = entry()) =>
        requests.requestApproval(newApproval(more), audit);
      const both = await Promise.all([ask(action), ask({ ...action, requesterId: 'U2' })]);
      expect(both.filter(({ isNew }) => isNew)).toHaveLength(1);
      expect(both[0]?.approval.id).toBe(both[1]?.approval.id);
      expect(await ask(other)).toMatchObject({ isNew: true });
      const elsewhere = await ask({ ...action, workspaceId: 'T2' }, entry({ workspaceId: 'T2' }));
      expect(elsewhere).toMatchObject({ isNew: true });
      expect(await requests.listOpen('T1', APPROVALS)).toHaveLength(2);
    });
  });
});
