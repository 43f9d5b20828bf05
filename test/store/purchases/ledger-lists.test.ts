import { beforeEach, describe, expect, test } from 'vitest';
import { money } from '../../../src/core/money.ts';
import type { Ledger } from '../../../src/purchases/ports.ts';
import { engines, entry, markSent, newCreate, newRenew, T0 } from '../support.ts';

describe.each(engines)('lists of the ledger on $name', ({ make }) => {
  let ledger: Ledger;
  beforeEach(async () => {
    ledger = (await make()).ledger;
  });

  const settled = (serverId: number) => ({ at: T0 + 5, serverId });
  const sent = async (operation = newCreate()) => {
    await ledger.prepare(operation);
    await markSent(ledger, operation.id, T0 + 1, [1, 2]);
    return operation.id;
  };

  test('open operations of the workspace, oldest first, and of all workspaces as a number', async () => {
    const [old, young, other] = [newCreate('b', { at: T0 + 1 }), newCreate('a', { at: T0 + 2 }), newCreate()];
    await ledger.prepare(young);
    await ledger.prepare({ ...other, workspaceId: 'T2' });
    await sent(old);
    const ended = newCreate('c', { workspaceId: 'T3' });
    await ledger.prepare(ended);
    await markSent(ledger, ended.id, T0 + 1, [], ['another']);
    await ledger.settle(ended.id, settled(3), entry());
    expect((await ledger.listOpen('T1')).map(({ id }) => id)).toEqual([old.id, young.id]);
    expect(await ledger.countOpen()).toBe(3);
  });

  test('deletes are in none of them, and in no budget', async () => {
    const deletion = { kind: 'delete', serverId: 7, label: 'web-1' } as const;
    const confirmed = { id: newCreate().id, workspaceId: 'T1', actorId: 'U1', deletion, at: T0 };
    expect(await ledger.confirmDelete(confirmed)).toBe(true);
    expect(await ledger.confirmDelete(confirmed)).toBe(false);
    expect(await ledger.findDelete(confirmed.id)).toMatchObject({ state: 'prepared', deletion });
    const none = [await ledger.listOpen('T1'), await ledger.listOfServer('T1', 7, 9)];
    const purchases = [await ledger.listPurchases('T1', T0), await ledger.listCreated('T1')];
    expect([...none, ...purchases]).toEqual([[], [], [], []]);
    expect([await ledger.countOpen(), await ledger.find(confirmed.id)]).toEqual([0, undefined]);
    expect(await ledger.sumSpent('T1', 'U1', T0)).toEqual({ workspace: 0, person: 0 });
  });

  test('a delete is in the way of no create, and no create is in its way', async () => {
    const deletion = { kind: 'delete', serverId: 7, label: 'web-1' } as const;
    const ids = [newCreate().id, newCreate().id];
    for (const id of ids)
      await ledger.confirmDelete({ id, workspaceId: 'T1', actorId: 'U1', deletion, at: T0 });
    const [first = '', second = ''] = ids;
    expect(await markSent(ledger, first, T0 + 1)).toBe(true);
    await sent();
    expect(await markSent(ledger, second, T0 + 1)).toBe(true);
    await ledger.closeDelete(first, T0 + 2);
    expect(await ledger.findDelete(first)).toMatchObject({ state: 'sent' });
    const reason = { code: 'no_answer', details: {} } as const;
    await ledger.markUnconfirmed(first, { reason }, entry());
    await ledger.closeDelete(first, T0 + 2);
    expect(await ledger.findDelete(first)).toMatchObject({ state: 'unconfirmed', endedAt: T0 + 2 });
  });

  test('operations of a server, newest first, and its create for plan and price', async () => {
    const create = newCreate('web-1', { at: T0 + 1 });
    await sent(create);
    await ledger.settle(create.id, settled(7), entry());
    const renew = newRenew(7, T0, { at: T0 + 2 });
    await sent(renew);
    await ledger.settle(renew.id, settled(7), entry());
    await ledger.prepare(newRenew(8));
    expect((await ledger.listOfServer('T1', 7, 9)).map(({ id }) => id)).toEqual([renew.id, create.id]);
    expect(await ledger.listOfServer('T1', 7, 1)).toHaveLength(1);
    expect(await ledger.listOfServer('T2', 7, 9)).toEqual([]);
    expect(await ledger.findCreateOf('T1', 7)).toMatchObject({ id: create.id, price: money(499) });
    expect(await ledger.findCreateOf('T1', 8)).toBeUndefined();
    expect(await ledger.findCreateOf('T2', 7)).toBeUndefined();
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
