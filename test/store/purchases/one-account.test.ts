import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import { Secret } from '../../../src/core/secret.ts';
import { engines, entry, newApproval, newCreate, newRenew, sentBy, T0 } from '../support.ts';
import { LIMIT, NO_ANSWER } from './reasons.ts';

/** T1 and T2 have different keys of one account, T3 has another account. */
describe.each(engines)('orders of two workspaces with one account on $name', ({ make }) => {
  let store: Store;
  let names: Readonly<Record<string, string>>;
  beforeEach(async () => {
    store = await make();
    const made: Record<string, string> = {};
    for (const id of ['T1', 'T2', 'T3']) {
      await store.workspaces.put({ id, name: id }, T0);
      await store.apiKeys.put(id, new Secret(`key of ${id}`), 'U1', T0);
      made[id] = store.accounts.nameOf(new Secret(`key of ${id}`));
    }
    names = made;
  });
  const nameOf = (id: string) => names[id] ?? '';
  const join = () => store.accounts.join(nameOf('T1'), nameOf('T2'));
  const create = async (workspaceId: string, label = 'web-1') => {
    const operation = newCreate(label, { workspaceId });
    await store.ledger.prepare(operation);
    return operation.id;
  };
  const renew = (workspaceId: string) => store.ledger.prepare(newRenew(7, T0 + 1000, { workspaceId }));
  const send = async (id: string, workspaceId: string) => {
    await store.ledger.lease(id, { owner: id, now: T0, until: T0 + 1 });
    const versions = await store.ledger.readVersions(workspaceId);
    return store.ledger.markSent(id, sentBy(id, T0, { versions, account: nameOf(workspaceId) }));
  };
  const loseAnswer = (id: string, workspaceId: string) =>
    store.ledger.markUnconfirmed(id, { reason: NO_ANSWER }, entry({ workspaceId }));
  const find = (id: string) => store.ledger.find(id);

  test('are sent one at a time, also the one that was sent before it was known', async () => {
    const [mine, theirs] = [await create('T1'), await create('T2', 'web-2')];
    expect(await send(mine, 'T1')).toBe('sent');
    await join();
    expect(await send(theirs, 'T2')).toBe('outdated');
    expect(await find(theirs)).toMatchObject({ state: 'prepared' });
    await store.ledger.settle(mine, { at: T0, serverId: 8, isFirstHand: true }, entry());
    expect(await send(theirs, 'T2')).toBe('sent');
  });

  test('of another account are not held up', async () => {
    await join();
    const [mine, theirs] = [await create('T1'), await create('T3')];
    expect([await send(mine, 'T1'), await send(theirs, 'T3')]).toEqual(['sent', 'sent']);
  });

  test('that are unconfirmed block their label, and no other', async () => {
    await join();
    const mine = await create('T1');
    await send(mine, 'T1');
    await loseAnswer(mine, 'T1');
    expect(await send(await create('T2', ' WEB-1'), 'T2')).toBe('outdated');
    expect(await send(await create('T2', 'web-2'), 'T2')).toBe('sent');
  });

  test('block it also when their workspace has another account by now, or none', async () => {
    await join();
    const mine = await create('T1');
    await send(mine, 'T1');
    await loseAnswer(mine, 'T1');
    await store.apiKeys.put('T1', new Secret('key of T3'), 'U1', T0);
    expect(await send(await create('T2'), 'T2')).toBe('outdated');
    await store.apiKeys.remove('T1');
    expect(await send(await create('T2'), 'T2')).toBe('outdated');
  });

  const replaceKey = async () => {
    await store.apiKeys.put('T1', new Secret('new key'), 'U1', T0);
    names = { ...names, T1: store.accounts.nameOf(new Secret('new key')) };
  };

  test.each([
    'sent',
    'unconfirmed',
  ])('that are %s block their label in their own workspace after its key was replaced', async (state) => {
    const mine = await create('T1');
    await send(mine, 'T1');
    if (state === 'unconfirmed') await loseAnswer(mine, 'T1');
    await replaceKey();
    const again = await create('T1', ' WEB-1');
    expect(await send(again, 'T1')).toBe('outdated');
    expect(await store.ledger.listUnresolvedCreates(nameOf('T1'), 'T1')).toMatchObject([{ id: mine, state }]);
    await store.ledger.refuse(mine, { at: T0, reason: LIMIT, owner: mine }, entry());
    expect(await send(again, 'T1')).toBe('sent');
  });

  test('that are unconfirmed keep their month in their own workspace after its key was replaced', async () => {
    const mine = await renew('T1');
    if (!('operation' in mine)) throw new Error('it was not prepared');
    await send(mine.operation.id, 'T1');
    await loseAnswer(mine.operation.id, 'T1');
    await replaceKey();
    expect(await renew('T1')).toMatchObject({ kind: 'known', operation: { id: mine.operation.id } });
    expect(await store.ledger.listRenewals(nameOf('T1'), 'T1', 7)).toHaveLength(1);
  });

  test('no longer count for a workspace whose key was replaced by another account’s', async () => {
    await join();
    const mine = await create('T1');
    await send(mine, 'T1');
    await store.apiKeys.put('T2', new Secret('key of T3'), 'U1', T0);
    const theirs = await create('T2');
    const versions = await store.ledger.readVersions('T2');
    await store.ledger.lease(theirs, { owner: 'b', now: T0, until: T0 + 1 });
    expect(await store.ledger.markSent(theirs, sentBy('b', T0, { versions, account: nameOf('T3') }))).toBe(
      'sent',
    );
  });

  test('renew one month once, until the one that has it is refused', async () => {
    await join();
    const mine = await renew('T1');
    expect(mine.kind).toBe('new');
    expect(await renew('T2')).toEqual({ kind: 'claimed_elsewhere' });
    expect((await renew('T1')).kind).toBe('known');
    expect((await renew('T3')).kind).toBe('new');
    if (!('operation' in mine)) throw new Error('it was not prepared');
    await store.ledger.refuse(mine.operation.id, { at: T0, reason: LIMIT }, entry());
    expect((await renew('T2')).kind).toBe('new');
  });

  test('renew one month once, although both were confirmed before it was known', async () => {
    const [mine, theirs] = [await renew('T1'), await renew('T2')];
    await join();
    if (!('operation' in mine && 'operation' in theirs)) throw new Error('they were not prepared');
    expect(await send(mine.operation.id, 'T1')).toBe('sent');
    expect(await send(theirs.operation.id, 'T2')).toBe('outdated');
    const audit = entry();
    await store.ledger.settle(mine.operation.id, { at: T0, serverId: 7, isFirstHand: true }, audit);
    expect(await send(theirs.operation.id, 'T2')).toBe('outdated');
    expect(await store.ledger.listRenewals(nameOf('T2'), 'T2', 7)).toHaveLength(2);
    expect(await store.ledger.listRenewals(nameOf('T3'), 'T3', 7)).toEqual([]);
  });

  test('approve no month that the other one has ordered, and tell nothing of its order', async () => {
    await join();
    await renew('T1');
    const { purchase } = newRenew(7, T0 + 1000);
    const approval = newApproval({ workspaceId: 'T2', kind: 'purchase', purchase });
    await store.requests.requestApproval(approval, entry({ workspaceId: 'T2' }));
    const approved = await store.requests.approve(
      approval.id,
      { by: 'U2', at: T0 },
      entry({ workspaceId: 'T2' }),
    );
    expect(approved).toMatchObject({ state: 'canceled', reason: { code: 'already_renewed' } });
  });

  test('account for the servers that either workspace has created, so neither stops at them', async () => {
    const mine = await create('T1');
    await send(mine, 'T1');
    await store.ledger.settle(mine, { at: T0, serverId: 8, isFirstHand: true }, entry());
    expect(await store.ledger.listSettledIds(nameOf('T2'), [8], 'T2')).toEqual([]);
    await join();
    expect(await store.ledger.listSettledIds(nameOf('T2'), [8], 'T2')).toEqual([8]);
  });

  test('claim one new server once', async () => {
    const [mine, theirs] = [await create('T1'), await create('T2')];
    for (const [id, workspaceId] of [[mine, 'T1'] as const, [theirs, 'T2'] as const]) {
      await send(id, workspaceId);
      await loseAnswer(id, workspaceId);
    }
    await join();
    const settle = (id: string, workspaceId: string) =>
      store.ledger.settle(id, { at: T0, serverId: 8 }, entry({ workspaceId }));
    expect(await store.ledger.listUnresolvedCreates(nameOf('T2'), 'T2')).toHaveLength(2);
    expect([await settle(mine, 'T1'), await settle(theirs, 'T2')]).toEqual([true, false]);
    expect(await store.ledger.listSettledIds(nameOf('T2'), [8, 9])).toEqual([8]);
    expect(await find(theirs)).toMatchObject({ state: 'unconfirmed' });
  });
});
