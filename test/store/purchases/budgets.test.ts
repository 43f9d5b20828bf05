import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import { money } from '../../../src/core/money.ts';
import type { Budget } from '../../../src/purchases/budget.ts';
import type { Ledger, NewOperation } from '../../../src/purchases/ports.ts';
import { confirm, engines, entry, markSent, newApproval, newCreate, newRenew, T0 } from '../support.ts';
import { LIMIT, NO_ANSWER } from './reasons.ts';

describe.each(engines)('budgets on $name', ({ make }) => {
  let store: Store;
  let ledger: Ledger;
  beforeEach(async () => {
    store = await make();
    await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
    ledger = store.ledger;
  });

  const costing = (price: number, more: Partial<NewOperation> = {}) =>
    newCreate('web-1', { price: money(price), ...more });
  const unpriced = (more: Partial<NewOperation> = {}) => {
    const { price: _, ...operation } = newCreate('web-1', more);
    return operation;
  };
  const budgetOf = (workspace?: number, person?: number, since = T0): Budget => ({
    since,
    ...(workspace === undefined ? {} : { workspace: money(workspace) }),
    ...(person === undefined ? {} : { person: money(person) }),
  });
  const kindOf = async (operation: NewOperation, budget: Budget) =>
    (await ledger.prepare(operation, budget)).kind;
  const spent = (actorId = 'U1', since = T0) => ledger.sumSpent('T1', actorId, since);

  test('let everything through up to the last hundredth, and nothing beyond', async () => {
    expect(await kindOf(costing(600), budgetOf(1000))).toBe('new');
    const over = costing(401);
    expect(await ledger.prepare(over, budgetOf(1000))).toEqual({
      kind: 'over_budget',
      whose: 'workspace',
      spent: 600,
      most: 1000,
    });
    expect(await ledger.find(over.id)).toBeUndefined();
    expect(await kindOf(costing(400), budgetOf(1000))).toBe('new');
    expect(await kindOf(costing(1), budgetOf(1000))).toBe('over_budget');
    expect(await spent()).toEqual({ workspace: 1000, person: 1000 });
  });

  test('count what one user spent, and what the whole workspace spent', async () => {
    await confirm(ledger, costing(300));
    await confirm(ledger, costing(500, { actorId: 'U2' }));
    await confirm(ledger, costing(9000, { workspaceId: 'T2' }));
    expect(await spent('U1')).toEqual({ workspace: 800, person: 300 });
    expect(await spent('U3')).toEqual({ workspace: 800, person: 0 });
    const budget = budgetOf(1000, 400);
    expect(await ledger.prepare(costing(150), budget)).toMatchObject({
      whose: 'person',
      spent: 300,
      most: 400,
    });
    expect(await ledger.prepare(costing(300), budget)).toMatchObject({ whose: 'workspace', spent: 800 });
    expect(await kindOf(costing(150, { actorId: 'U3' }), budget)).toBe('new');
    expect(await kindOf(costing(150), budgetOf())).toBe('new');
  });

  test('are never exceeded by fifty confirmations at once', async () => {
    const budget = budgetOf(1000, 700);
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, at) => ledger.prepare(costing(100, { actorId: `U${at % 2}` }), budget)),
    );
    expect(all.filter(({ kind }) => kind === 'new')).toHaveLength(10);
    expect(await ledger.listOpen('T1')).toHaveLength(10);
    for (const who of ['U0', 'U1']) expect((await spent(who)).person).toBeLessThanOrEqual(700);
  });

  test('count what is under way or unconfirmed, and not what was refused', async () => {
    const [prepared, sent, unconfirmed, settled, refused] = [1, 2, 4, 8, 16].map((price) => costing(price));
    if (!prepared || !sent || !unconfirmed || !settled || !refused) throw new Error('five operations');
    for (const one of [prepared, sent, unconfirmed, settled, refused]) await ledger.prepare(one);
    for (const { id } of [sent, unconfirmed, settled, refused]) await markSent(ledger, id, T0);
    await ledger.markUnconfirmed(unconfirmed.id, { reason: NO_ANSWER }, entry());
    await ledger.settle(settled.id, { at: T0, serverId: 7 }, entry());
    expect((await spent()).workspace).toBe(31);
    expect(await kindOf(costing(10), budgetOf(31))).toBe('over_budget');
    await ledger.refuse(refused.id, { at: T0, reason: LIMIT, owner: 'sender' }, entry());
    expect((await spent()).workspace).toBe(15);
    expect(await kindOf(costing(16), budgetOf(31))).toBe('new');
  });

  test('do not add up prices that are not known, and let none through when nothing is left', async () => {
    await confirm(ledger, unpriced());
    expect(await spent()).toEqual({ workspace: 0, person: 0 });
    expect(await kindOf(unpriced(), budgetOf(100))).toBe('new');
    expect(await kindOf(costing(100), budgetOf(100))).toBe('new');
    expect(await kindOf(unpriced(), budgetOf(100))).toBe('over_budget');
    expect(await kindOf(unpriced(), budgetOf(undefined, 0))).toBe('over_budget');
  });

  test('count from the first moment of the month, and start at zero with the next', async () => {
    await confirm(ledger, costing(500, { at: T0 - 1 }));
    await confirm(ledger, costing(30, { at: T0 }));
    expect((await spent()).workspace).toBe(30);
    expect((await spent('U1', T0 - 1)).workspace).toBe(530);
    expect((await spent('U1', T0 + 1)).workspace).toBe(0);
    expect(await kindOf(costing(70), budgetOf(100))).toBe('new');
  });

  test('hold back nothing that was confirmed before: the same press again, or the same month', async () => {
    const [create, renew] = [costing(600), newRenew(7, T0, { price: money(400) })];
    await ledger.prepare(create, budgetOf(1000));
    await ledger.prepare(renew, budgetOf(1000));
    const used = budgetOf(10);
    expect(await ledger.prepare(create, used)).toMatchObject({ kind: 'known', operation: { id: create.id } });
    const again = newRenew(7, T0, { price: money(400), actorId: 'U2' });
    expect(await ledger.prepare(again, used)).toMatchObject({ kind: 'known', operation: { id: renew.id } });
    expect((await spent()).workspace).toBe(1000);
    await expect(ledger.prepare({ ...create, workspaceId: 'T2' }, used)).rejects.toThrow(/another workspace/);
  });

  test('count what another manager approved beyond them', async () => {
    await ledger.prepare(costing(1000), budgetOf(1000));
    const wanted = newApproval({ isOverBudget: true });
    await store.requests.requestApproval(wanted, entry());
    expect((await spent()).workspace).toBe(1000);
    await store.requests.approve(wanted.id, { by: 'U9', at: T0 }, entry());
    expect(await spent()).toEqual({ workspace: 1499, person: 1499 });
    expect(await kindOf(costing(1), budgetOf(1499))).toBe('over_budget');
  });
});
