import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { money } from '../../src/core/money.ts';
import { Secret } from '../../src/core/secret.ts';
import type { Budget } from '../../src/purchases/costs.ts';
import type { Ledger } from '../../src/purchases/ledger.ts';
import type { NewOperation } from '../../src/purchases/operation.ts';
import { createSpill } from '../../src/purchases/spill.ts';
import { LIMIT, NO_ANSWER } from '../db/fixtures.ts';
import {
  confirm,
  engines,
  entry,
  makeFolder,
  markSent,
  newCreate,
  newRenew,
  settleCreate,
  T0,
  vault,
} from '../db/support.ts';

describe.each(engines)('budgets on $name', ({ make }) => {
  let store: Store;
  let ledger: Ledger;
  beforeEach(async () => {
    store = await make();
    await store.workspaces.put({ id: 'T1', name: 'Acme' });
    ledger = store.ledger;
  });

  const costing = (price: number, more: Partial<NewOperation> = {}) =>
    newCreate('web-1', { price: money(price), ...more });
  const unpriced = () => newCreate('web-1', { price: undefined });
  const budgetOf = (workspace?: number, person?: number, since = T0): Budget => ({
    since,
    workspace: workspace === undefined ? undefined : money(workspace),
    person: person === undefined ? undefined : money(person),
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
    for (const { id } of [sent, unconfirmed, settled, refused]) await markSent(store, id, T0);
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
});

test.each(engines)('of two servers with one ID, the newest one has its price, on $name', async ({ make }) => {
  const store = await make();
  const { ledger } = store;
  await settleCreate(store, newCreate('new', { at: T0 + 2 }), { serverId: 7 });
  await settleCreate(store, newCreate('old', { at: T0 + 1 }), { serverId: 7 });
  expect(await ledger.listCreated('T1')).toMatchObject([{ id: 7, order: { label: 'new' } }]);
  expect(await ledger.findCreated('T1', 7)).toMatchObject({ order: { label: 'new' } });
});

describe.each(engines)('held passwords on $name', ({ make }) => {
  let store: Store;
  beforeEach(async () => {
    store = await make();
  });

  const settle = (serverId: number, word: string, workspaceId = 'T1') => {
    const operation = newCreate(`web-${serverId}`, { workspaceId, at: T0 + serverId });
    const settled = { at: T0 + serverId, serverId, password: new Secret(word), isFirstHand: true };
    return settleCreate(store, operation, settled);
  };

  test('a settled create has its password, for its creator and its server, which never expires unless its creator asks to see it', async () => {
    const id = await settle(7, 'pässwörd "1"');
    expect(await store.ledger.find(id)).toMatchObject({ hasPassword: true });
    await store.passwords.eraseExpired(Number.MAX_SAFE_INTEGER);
    expect((await store.counts()).passwords.unopened).toBe(1);
    const held = await store.passwords.find(id);
    expect(held?.password.reveal()).toBe('pässwörd "1"');
    expect(held).toMatchObject({ workspaceId: 'T1', creatorId: 'U1', serverId: 7, label: 'web-7' });
    expect(held).toMatchObject({ heldUntil: undefined });
  });

  test('one that its creator has asked to see is held for its time, which showing it again does not make longer', async () => {
    const id = await settle(1, 'a');
    await store.passwords.startHold(id, T0, 1000);
    await store.passwords.startHold(id, T0 + 900, 1000);
    expect((await store.counts()).passwords.unopened).toBe(0);
    expect(await store.passwords.find(id)).toMatchObject({ heldUntil: T0 + 1000 });
    await store.passwords.eraseExpired(T0 + 999);
    expect(await store.passwords.find(id)).toBeDefined();
    await store.passwords.eraseExpired(T0 + 1000);
    expect(await store.passwords.find(id)).toBeUndefined();
  });

  const deleted = (serverId: number, label: string) =>
    store.audit.add({ ...entry({ label }), action: 'delete', serverId, outcome: 'done' });

  test('is erased with its server, in the transaction that records the deletion', async () => {
    const [mine, theirs] = [await settle(1, 'a'), await settle(2, 'b')];
    const elsewhere = await settle(1, 'c', 'T2');
    await store.audit.add({ ...entry(), action: 'delete', serverId: 1, outcome: 'in_doubt' });
    expect(await store.passwords.find(mine)).toBeDefined();
    await deleted(1, 'web-1');
    expect(await store.passwords.find(mine)).toBeUndefined();
    expect(await store.passwords.find(theirs)).toBeDefined();
    expect(await store.passwords.find(elsewhere)).toBeDefined();
    expect((await store.counts()).passwords.unopened).toBe(2);
  });

  test('stays when a server of the same ID is deleted in another account', async () => {
    const id = await settle(1, 'a');
    await store.apiKeys.put('T1', new Secret('another key'), 'U1', T0 + 5);
    for (const label of ['another-server', 'Web-1']) await deleted(1, label);
    expect(await store.passwords.find(id)).toBeDefined();
    await deleted(1, 'web-1');
    expect(await store.passwords.find(id)).toBeUndefined();
  });

  test('is erased once, and only its own', async () => {
    const [mine, theirs] = [await settle(1, 'a'), await settle(2, 'b')];
    await store.passwords.erase(mine);
    await store.passwords.erase(mine);
    expect(await store.passwords.listHeld('T1')).toMatchObject([{ operationId: theirs }]);
    expect(await store.ledger.find(mine)).toMatchObject({ state: 'settled', hasPassword: true });
  });
});

const DISK_BYTES = 256 * 1024;

/** A file system of its own, which only root can mount. */
function mountDisk(): string | undefined {
  const disk = makeFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', disk]));
  return disk;
}

/** A folder for paid answers on a disk that has been filled since. */
function startFull(skip: (why: string) => never) {
  const disk = mountDisk() ?? skip('needs root, to mount a small file system');
  const folder = join(disk, 'answers');
  const spill = createSpill(folder, vault);
  expect(() => writeFileSync(join(disk, 'filler'), Buffer.alloc(2 * DISK_BYTES))).toThrow('ENOSPC');
  return { folder, spill };
}

/** An answer with a root password of that length. */
const answerOf = (length: number) => ({ serverId: 7, password: new Secret('x'.repeat(length)) });
const reveal = async (spill: ReturnType<typeof createSpill>) =>
  (await spill.readAll()).answers.map(({ operationId, password }) => [
    operationId,
    password?.reveal().length,
  ]);

describe('a paid answer on a full disk', () => {
  test('is kept whole, up to 16 KiB of it', async ({ skip }) => {
    const { folder, spill } = startFull(skip);
    await spill.write('long', answerOf(16_384));
    expect(await reveal(createSpill(folder, vault))).toEqual([['long', 16_384]]);
  });

  test('is not reported as kept if only a part of it fits, and leaves its space for a shorter one', async ({
    skip,
  }) => {
    const { folder, spill } = startFull(skip);
    await expect(spill.write('longest', answerOf(100_000))).rejects.toThrow('ENOSPC');
    expect(await reveal(spill)).toEqual([]);
    await spill.write('short', answerOf(24));
    expect(await reveal(createSpill(folder, vault))).toEqual([['short', 24]]);
  });

  test('leaves space for the answers of other accounts', async ({ skip }) => {
    const { folder, spill } = startFull(skip);
    const names = Array.from({ length: 7 }, (_, at) => `order-${at}`);
    for (const name of names) await spill.write(name, answerOf(24));
    expect((await reveal(createSpill(folder, vault))).toSorted()).toEqual(names.map((name) => [name, 24]));
  });
});

test('a paid answer in the file of another order is not read', async () => {
  const folder = makeFolder();
  const spill = createSpill(folder, vault);
  await spill.write('one', answerOf(24));
  renameSync(join(folder, 'one.sealed'), join(folder, 'other.sealed'));
  expect(await spill.readAll()).toEqual({ answers: [], unreadable: 1 });
});

test('files that can’t be read hide none of the paid answers beside them', async () => {
  const folder = makeFolder();
  const spill = createSpill(folder, vault);
  await spill.write('one', answerOf(24));
  mkdirSync(join(folder, 'unreadable.sealed'));
  writeFileSync(join(folder, '%.sealed'), 'not ours');
  expect(await spill.readAll()).toMatchObject({ answers: [{ operationId: 'one' }], unreadable: 2 });
});
