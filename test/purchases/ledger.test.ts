import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { money } from '../../src/core/money.ts';
import { Secret } from '../../src/core/secret.ts';
import type { Ledger } from '../../src/purchases/ledger.ts';
import { SEND_WITHIN_MS } from '../../src/purchases/operation.ts';
import { ACCOUNT_CHANGED, LIMIT, NO_ANSWER, NOT_DONE } from '../db/fixtures.ts';
import {
  confirm,
  engines,
  entry,
  leaseOperation,
  markSent,
  newCreate,
  newRenew,
  sentBy,
  T0,
} from '../db/support.ts';

describe.each(engines)('the ledger on $name', ({ make }) => {
  let store: Store;
  let ledger: Ledger;
  beforeEach(async () => {
    store = await make();
    ledger = store.ledger;
  });

  const settled = (serverId: number) => ({ at: T0 + 5, serverId });
  const countAudit = async () => (await store.audit.list({ workspaceId: 'T1', limit: 100 })).length;
  const sent = async (operation = newCreate()) => {
    await ledger.prepare(operation);
    await markSent(store, operation.id, T0 + 1, [1, 2]);
    return operation.id;
  };

  describe('a confirmation', () => {
    test('is kept as it was made', async () => {
      const operation = newCreate('wéb-1');
      const { kind, operation: kept } = await confirm(ledger, operation);
      const { at, ...fields } = operation;
      const expected = {
        ...fields,
        state: 'prepared',
        knownIds: [],
        hasPassword: false,
        needsDecision: false,
        isLate: false,
        createdAt: at,
        sendBy: at + SEND_WITHIN_MS,
      };
      expect(kind).toBe('new');
      expect(kept).toEqual(expected);
      expect(await ledger.find(operation.id)).toEqual(expected);
    });

    test('counts once when the button is pressed twice, and later shows how it stands', async () => {
      const operation = newCreate();
      const both = await Promise.all([confirm(ledger, operation), confirm(ledger, operation)]);
      expect(both.map(({ kind }) => kind).sort()).toEqual(['known', 'new']);
      expect(both.map((one) => one.operation.id)).toEqual([operation.id, operation.id]);
      expect(await ledger.listOpen('T1')).toHaveLength(1);
      await markSent(store, operation.id, T0);
      const later = await ledger.prepare(operation);
      expect(later).toMatchObject({ kind: 'known', operation: { state: 'sent' } });
    });

    test('of another month, another server or another workspace is a new one', async () => {
      const renewals = [
        newRenew(7, T0),
        newRenew(7, T0 + 1),
        newRenew(8, T0),
        newRenew(7, T0, { workspaceId: 'T2' }),
      ];
      const all = await Promise.all(renewals.map((renewal) => ledger.prepare(renewal)));
      expect(all.every(({ kind }) => kind === 'new')).toBe(true);
    });

    test('of a renewal can be repeated once it is refused, but not while it is settled or unconfirmed', async () => {
      const refusedId = await sent(newRenew(7));
      await ledger.refuse(refusedId, { at: T0, reason: LIMIT, owner: 'sender' }, entry());
      expect((await ledger.prepare(newRenew(7))).kind).toBe('new');

      const unconfirmedId = await sent(newRenew(8));
      await ledger.markUnconfirmed(unconfirmedId, { reason: NO_ANSWER }, entry());
      expect((await confirm(ledger, newRenew(8))).operation.id).toBe(unconfirmedId);

      await ledger.settle(unconfirmedId, settled(8), entry());
      expect((await confirm(ledger, newRenew(8))).operation.id).toBe(unconfirmedId);
    });
  });

  describe('a change of state', () => {
    test('happens only from where it may start, and is audited only if it happened', async () => {
      const steps = {
        // Each of an account and a label of its own: nothing is in the way of another one.
        markSent: (id: string) => markSent(store, id, T0, [], [id]),
        settle: (id: string) => ledger.settle(id, settled(1), entry()),
        refuse: (id: string) => ledger.refuse(id, { at: T0, reason: LIMIT, owner: 'sender' }, entry()),
        unconfirm: (id: string) => ledger.markUnconfirmed(id, { reason: NO_ANSWER }, entry()),
      };
      const reach = {
        prepared: async (id: string) => id,
        sent: steps.markSent,
        settled: async (id: string) => (await steps.markSent(id)) && steps.settle(id),
        refused: steps.refuse,
        unconfirmed: async (id: string) => (await steps.markSent(id)) && steps.unconfirm(id),
      };
      const allowed = {
        markSent: ['prepared', 'sent'],
        settle: ['sent', 'unconfirmed'],
        refuse: ['prepared', 'sent', 'unconfirmed'],
        unconfirm: ['prepared', 'sent'],
      };
      for (const [state, getThere] of Object.entries(reach)) {
        for (const [name, step] of Object.entries(steps)) {
          const operation = newCreate(`${state}-${name}`, { workspaceId: `T-${state}-${name}` });
          await ledger.prepare(operation);
          await getThere(operation.id);
          const before = { audited: await countAudit(), operation: await ledger.find(operation.id) };
          expect(before.operation?.state).toBe(state);
          const isAllowed = allowed[name as keyof typeof allowed].includes(state);
          expect([state, name, await step(operation.id)]).toEqual([state, name, isAllowed]);
          const isAudited = isAllowed && name !== 'markSent';
          expect(await countAudit()).toBe(before.audited + (isAudited ? 1 : 0));
          if (!isAllowed) expect(await ledger.find(operation.id)).toEqual(before.operation);
        }
      }
    });

    test('to refused, once it was sent, takes its own sender’s proof, or a manager while it is unconfirmed', async () => {
      const id = await sent();
      const reason = { code: 'price_moved', details: { before: money(499), now: money(599) } } as const;
      const refuse = (by: { readonly owner?: string; readonly decidedBy?: string }) =>
        ledger.refuse(id, { at: T0 + 5, reason, ...by }, entry());
      expect([
        await refuse({}),
        await refuse({ owner: 'another' }),
        await refuse({ decidedBy: 'U2' }),
      ]).toEqual([false, false, false]);
      await ledger.markUnconfirmed(id, { reason: NO_ANSWER }, entry());
      expect([await refuse({}), await refuse({ owner: 'another' })]).toEqual([false, false]);
      expect(await refuse({ decidedBy: 'U2' })).toBe(true);
      const refused = { state: 'refused', reason, decidedBy: 'U2', endedAt: T0 + 5 };
      expect(await ledger.find(id)).toMatchObject(refused);
    });

    test('is undone as a whole when a part of it fails', async () => {
      const id = await sent();
      const broken = entry({ actorId: null as unknown as string });
      const password = new Secret('pw');
      await expect(ledger.settle(id, { ...settled(1), password }, broken)).rejects.toThrow();
      expect(await ledger.find(id)).toMatchObject({ state: 'sent' });
      expect(await store.passwords.find(id)).toBeUndefined();
      expect(await ledger.settle(id, { ...settled(1), password }, entry())).toBe(true);
    });
  });

  describe('marking as sent', () => {
    const lease = (id: string, now: number) =>
      leaseOperation(store, id, { owner: 'a', now, until: now + 10 });

    test.each([
      ['after its send-by time', SEND_WITHIN_MS + 1],
      ['after the clock was set back', -3_600_000],
    ])('does not happen %s, not even again, although the first request was proven not to have run', async (_words, passedMs) => {
      const [fresh, tried] = [newRenew(), newCreate()];
      for (const each of [fresh, tried]) {
        await confirm(ledger, each);
        await lease(each.id, T0);
      }
      expect(await ledger.markSent(tried.id, sentBy('a'))).toBe('sent');
      expect(await ledger.markSent(tried.id, sentBy('a', T0 + 1))).toBe('sent');
      for (const { id } of [fresh, tried]) {
        await lease(id, T0 + passedMs);
        expect(await ledger.markSent(id, sentBy('a', T0 + passedMs))).toBe('refused');
      }
      expect(await ledger.find(fresh.id)).toMatchObject({ state: 'prepared' });
    });
  });

  test('contradictory evidence is left to a manager once, with its reason; the order stays unconfirmed, and can still end', async () => {
    const id = await sent();
    await ledger.markNeedsDecision(id, entry());
    expect(await ledger.find(id)).toMatchObject({ state: 'sent', needsDecision: false });
    await ledger.markUnconfirmed(id, { reason: NO_ANSWER }, entry());
    const left = { state: 'unconfirmed', needsDecision: true, reason: ACCOUNT_CHANGED };
    for (const reason of [ACCOUNT_CHANGED, undefined]) {
      await ledger.markNeedsDecision(id, entry(), reason);
      expect(await ledger.find(id)).toMatchObject(left);
    }
    expect(await countAudit()).toBe(2);
    expect(await ledger.settle(id, settled(1), entry())).toBe(true);
    expect(await ledger.find(id)).toMatchObject({ state: 'settled', needsDecision: false });
  });

  /** The API's own answer, with the password. */
  const late = { at: T0, serverId: 7, password: new Secret('late'), isFirstHand: true };

  describe('the API’s own answer that comes late', () => {
    test('corrects a refusal that was concluded without it, and keeps its password', async () => {
      const id = await sent();
      await ledger.markUnconfirmed(id, { reason: NO_ANSWER }, entry());
      await ledger.refuse(id, { at: T0, reason: NOT_DONE, decidedBy: 'U2' }, entry());
      expect(await ledger.settle(id, late, entry())).toBe(true);
      expect(await ledger.find(id)).toMatchObject({ state: 'settled', hasPassword: true });
      expect((await store.passwords.find(id))?.password.reveal()).toBe('late');
    });

    test('adds its password to a settlement that was concluded from a list, once', async () => {
      const id = await sent();
      expect(await ledger.settle(id, settled(7), entry())).toBe(true);
      expect(await ledger.settle(id, late, entry())).toBe(true);
      expect(await ledger.settle(id, { ...late, password: new Secret('again') }, entry())).toBe(false);
      expect((await store.passwords.find(id))?.password.reveal()).toBe('late');
    });

    test('takes the place of a manager’s decision that the server was created', async () => {
      const id = await sent();
      await ledger.markUnconfirmed(id, { reason: NO_ANSWER }, entry());
      expect(await ledger.settle(id, { ...settled(8), decidedBy: 'U2' }, entry())).toBe(true);
      expect(await ledger.find(id)).toMatchObject({ serverId: 8, decidedBy: 'U2' });
      expect(await ledger.settle(id, late, entry())).toBe(true);
      expect(await ledger.find(id)).toMatchObject({ serverId: 7, hasPassword: true, decidedBy: undefined });
    });

    test('takes the place of a manager’s decision that a month was renewed', async () => {
      const id = await sent(newRenew(7));
      await ledger.markUnconfirmed(id, { reason: NO_ANSWER }, entry());
      expect(await ledger.settle(id, { at: T0 + 5, decidedBy: 'U2' }, entry())).toBe(true);
      const answer = { ...settled(7), paidUntil: T0 + 9, isFirstHand: true };
      expect(await ledger.settle(id, answer, entry())).toBe(true);
      expect(await ledger.find(id)).toMatchObject({ paidUntil: T0 + 9, decidedBy: undefined });
      expect(await ledger.settle(id, answer, entry())).toBe(false);
    });

    test('may still name the server of a create that a manager says was done: until then, it is a rival of others', async () => {
      const id = await sent();
      await ledger.markUnconfirmed(id, { reason: NO_ANSWER }, entry());
      await ledger.settle(id, { at: T0 + 5, decidedBy: 'U2' }, entry());
      expect(await ledger.listUnresolvedCreates([''], 'T1')).toMatchObject([{ id }]);
    });
  });

  describe('notifying', () => {
    test('is asked for again when an order that was over gets its late answer, and when it ends', async () => {
      const id = await sent();
      const endJob = async () => {
        const [job] = await store.jobStore.list('operation', 'T1');
        if (job) await store.jobStore.end(job, undefined, 0);
        expect(await store.jobStore.list('operation', 'T1')).toEqual([]);
      };
      const isAskedFor = async () =>
        expect(await store.jobStore.list('operation', 'T1')).toMatchObject([{ key: id }]);
      await endJob();
      await ledger.markUnconfirmed(id, { reason: NO_ANSWER }, entry());
      await isAskedFor();
      await endJob();
      await ledger.settle(id, settled(7), entry());
      await isAskedFor();
      await endJob();
      await ledger.settle(id, late, entry());
      await isAskedFor();
    });

    test('of a decision leaves the answer that replaced it to be notified', async () => {
      const id = await sent(newRenew(7));
      await ledger.markUnconfirmed(id, { reason: NO_ANSWER }, entry());
      await ledger.settle(id, { at: T0 + 5, decidedBy: 'U2' }, entry());
      const decided = await ledger.find(id);
      await ledger.settle(id, { ...settled(7), paidUntil: T0 + 9, isFirstHand: true }, entry());
      if (decided) await ledger.markNotified(decided, T0 + 6);
      expect(await ledger.find(id)).toMatchObject({ paidUntil: T0 + 9, notifiedAt: undefined });
    });

    test('of one state leaves the next one to be notified', async () => {
      const id = await sent();
      await ledger.markUnconfirmed(id, { reason: NO_ANSWER }, entry());
      const unconfirmed = await ledger.find(id);
      await ledger.settle(id, settled(7), entry());
      if (unconfirmed) await ledger.markNotified(unconfirmed, T0);
      expect(await ledger.find(id)).toMatchObject({ notifiedAt: undefined });
    });

    test('the API’s own answer settles an order that the database no longer knows to be sent, and keeps its password', async () => {
      const { operation } = await confirm(ledger, newCreate());
      const { id } = operation;
      expect(await ledger.settle(id, settled(7), entry())).toBe(false);
      const answer = { ...settled(7), password: new Secret('pw'), isFirstHand: true };
      expect(await ledger.settle(id, answer, entry())).toBe(true);
      expect(await ledger.find(id)).toMatchObject({ state: 'settled', serverId: 7, hasPassword: true });
      await leaseOperation(store, id, { owner: 'a', now: T0, until: T0 + 10 });
      expect(await ledger.markSent(id, sentBy('a'))).toBe('refused');
    });

    test('an operation is marked as sent only by the owner of its lease, and again only by its sender', async () => {
      const { operation } = await confirm(ledger, newCreate());
      await leaseOperation(store, operation.id, { owner: 'a', now: T0, until: T0 + 10 });
      expect(await ledger.markSent(operation.id, sentBy('b'))).toBe('refused');
      expect(await ledger.markSent(operation.id, sentBy('a', T0 + 10))).toBe('refused');
      expect(await ledger.markSent(operation.id, sentBy('a'))).toBe('sent');
      await store.jobStore.giveBack('a');
      await leaseOperation(store, operation.id, { owner: 'b', now: T0, until: T0 + 10 });
      expect(await ledger.markSent(operation.id, sentBy('b'))).toBe('refused');
    });
  });

  describe('lists', () => {
    test('open operations of the workspace, oldest first', async () => {
      const [old, young, other] = [
        newCreate('b', { at: T0 + 1 }),
        newCreate('a', { at: T0 + 2 }),
        newCreate(),
      ];
      await ledger.prepare(young);
      await ledger.prepare({ ...other, workspaceId: 'T2' });
      await sent(old);
      const ended = newCreate('c', { workspaceId: 'T3' });
      await ledger.prepare(ended);
      await markSent(store, ended.id, T0 + 1, [], ['another']);
      await ledger.settle(ended.id, settled(3), entry());
      expect((await ledger.listOpen('T1')).map(({ id }) => id)).toEqual([old.id, young.id]);
    });

    test('deletes are in none of them, and in no budget', async () => {
      const deletion = { kind: 'delete', serverId: 7, label: 'web-1' } as const;
      const confirmed = { id: newCreate().id, workspaceId: 'T1', actorId: 'U1', deletion, at: T0 };
      expect(await ledger.confirmDelete(confirmed)).toBe(true);
      expect(await ledger.confirmDelete(confirmed)).toBe(false);
      expect(await ledger.findDelete(confirmed.id)).toMatchObject({ state: 'prepared', deletion });
      expect(await ledger.listOpen('T1')).toEqual([]);
      expect(await ledger.listPurchases('T1', T0)).toEqual([]);
      expect(await ledger.listCreated('T1')).toEqual([]);
      expect(await ledger.find(confirmed.id)).toBeUndefined();
      expect(await ledger.sumSpent('T1', 'U1', T0)).toEqual({ workspace: 0, person: 0 });
    });

    test('a delete is in the way of no create, and no create is in its way', async () => {
      const deletion = { kind: 'delete', serverId: 7, label: 'web-1' } as const;
      const ids = [newCreate().id, newCreate().id];
      for (const id of ids)
        await ledger.confirmDelete({ id, workspaceId: 'T1', actorId: 'U1', deletion, at: T0 });
      const [first = '', second = ''] = ids;
      expect(await markSent(store, first, T0 + 1)).toBe(true);
      await sent();
      expect(await markSent(store, second, T0 + 1)).toBe(true);
      await ledger.closeDelete(first, T0 + 2);
      expect(await ledger.findDelete(first)).toMatchObject({ state: 'sent' });
      await ledger.markUnconfirmed(first, { reason: NO_ANSWER }, entry());
      await ledger.closeDelete(first, T0 + 2);
      expect(await ledger.findDelete(first)).toMatchObject({ state: 'unconfirmed', endedAt: T0 + 2 });
    });

    test('ids that settled creates were given, among those asked for', async () => {
      for (const serverId of [1, 2]) await ledger.settle(await sent(), settled(serverId), entry());
      await ledger.settle(await sent(newRenew(3)), settled(3), entry());
      const ids = await ledger.listSettledIds(
        ['a'],
        [2, 3, ...Array.from({ length: 3000 }, (_, i) => i + 100)],
      );
      expect(ids).toEqual([2]);
      expect(await ledger.listSettledIds(['a'], [])).toEqual([]);
      expect(await ledger.listSettledIds(['b'], [1, 2])).toEqual([]);
      const late = newCreate('web-9', { at: T0 + 1 });
      await sent(late);
      await ledger.settle(late.id, settled(9), entry());
      expect(await ledger.listSettledIds(['a'], [1, 2, 9])).toEqual([1, 2, 9]);
      expect(await ledger.listSettledIds(['b'], [1, 2, 9], 'T1')).toEqual([1, 2, 9]);
      const elsewhere = newCreate('web-1', { workspaceId: 'T2' });
      await sent(elsewhere);
      await ledger.settle(elsewhere.id, settled(10), entry({ workspaceId: 'T2' }));
      expect(await ledger.listSettledIds(['a'], [1, 10], 'T1')).toEqual([1, 10]);
    });
  });
});
