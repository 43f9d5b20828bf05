import { beforeEach, describe, expect, test } from 'vitest';
import { money } from '../../../src/core/money.ts';
import type { Ledger } from '../../../src/purchases/ports.ts';
import { engines, entry, markSent, newCreate, newRenew, T0 } from '../support.ts';

describe.each(engines)('prices in the ledger on $name', ({ make }) => {
  let ledger: Ledger;
  beforeEach(async () => {
    ledger = (await make()).ledger;
  });

  const sent = async (operation = newCreate()) => {
    await ledger.prepare(operation);
    await markSent(ledger, operation.id, T0 + 1);
    return operation.id;
  };
  const created = async (serverId: number | undefined, operation = newCreate()) => {
    const id = await sent(operation);
    const found = serverId === undefined ? {} : { serverId };
    await ledger.settle(id, { at: T0 + 5, ...found }, entry({ workspaceId: operation.workspaceId }));
  };

  test('servers that settled creates of the workspace have made, with plan, price and creator', async () => {
    await created(7, newCreate('web-7', { actorId: 'U7', at: T0 + 3 }));
    const { price: _, ...unpriced } = newCreate('web-8');
    await created(8, unpriced);
    await created(9, newCreate('elsewhere', { workspaceId: 'T2' }));
    await created(undefined, newCreate('in a lost account'));
    await created(8, newRenew(8));
    await sent(newCreate('not confirmed'));
    const found = await ledger.listCreated('T1');
    expect(found.toSorted((a, b) => a.id - b.id)).toEqual([
      {
        id: 7,
        label: 'web-7',
        plan: 's1',
        paid: money(499),
        creatorId: 'U7',
        createdAt: T0 + 3,
        account: 'a',
      },
      { id: 8, label: 'web-8', plan: 's1', creatorId: 'U1', createdAt: T0, account: 'a' },
    ]);
  });

  test('of two servers with one ID the newest, as for one server', async () => {
    await created(7, newCreate('new', { at: T0 + 2 }));
    await created(7, newCreate('old', { at: T0 + 1 }));
    expect(await ledger.listCreated('T1')).toMatchObject([{ id: 7, label: 'new' }]);
    expect(await ledger.findCreateOf('T1', 7)).toMatchObject({ purchase: { order: { label: 'new' } } });
  });

  test('purchases since a moment, without those that are proven not to have been charged', async () => {
    await created(7, newCreate('settled'));
    await ledger.prepare(newCreate('prepared'));
    await sent(newCreate('sent'));
    const refused = async (label: string, code: 'limit' | 'decided_not_done') => {
      const id = await sent(newCreate(label));
      await ledger.markUnconfirmed(id, { reason: { code: 'no_answer', details: {} } }, entry());
      await ledger.refuse(id, { at: T0 + 9, reason: { code, details: {} }, decidedBy: 'U1' }, entry());
    };
    await refused('proven', 'limit');
    await refused('decided', 'decided_not_done');
    await ledger.prepare(newCreate('before', { at: T0 - 1 }));
    await ledger.prepare(newCreate('elsewhere', { workspaceId: 'T2' }));
    await ledger.prepare(newRenew(9));
    const listed = await ledger.listPurchases('T1', T0);
    const words = listed.map(({ purchase, state, price }) => {
      const label = purchase.kind === 'create' ? purchase.order.label : `renew ${purchase.serverId}`;
      return `${label} ${state} ${price ?? '-'}`;
    });
    expect(words.toSorted()).toEqual([
      'decided refused 499',
      'prepared prepared 499',
      'renew 9 prepared -',
      'sent sent 499',
      'settled settled 499',
    ]);
  });
});
