import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import { Secret } from '../../../src/core/secret.ts';
import { engines, entry, markSent, newCreate, T0 } from '../support.ts';

describe.each(engines)('held passwords on $name', ({ make }) => {
  let store: Store;
  beforeEach(async () => {
    store = await make();
  });

  const settle = async (serverId: number, word: string, workspaceId = 'T1') => {
    const operation = newCreate(`web-${serverId}`, { workspaceId, at: T0 + serverId });
    await store.ledger.prepare(operation);
    await markSent(store.ledger, operation.id, T0, []);
    const settled = { at: T0 + serverId, serverId, password: new Secret(word), isFirstHand: true };
    await store.ledger.settle(operation.id, settled, entry({ workspaceId }));
    return operation.id;
  };

  test('a settled create has its password, for its creator and its server', async () => {
    const id = await settle(7, 'pässwörd "1"');
    const held = await store.passwords.find(id);
    expect(held?.password.reveal()).toBe('pässwörd "1"');
    expect(held).toMatchObject({ workspaceId: 'T1', creatorId: 'U1', serverId: 7, label: 'web-7' });
    expect(held).not.toHaveProperty('heldUntil');
    expect(await store.ledger.find(id)).toMatchObject({ hasPassword: true });
  });

  test('are listed for their workspace, newest first, unopened', async () => {
    const [old, young] = [await settle(1, 'a'), await settle(2, 'b')];
    await settle(3, 'c', 'T2');
    const held = await store.passwords.listHeld('T1');
    expect(held.map(({ operationId }) => operationId)).toEqual([young, old]);
    expect(held[0]).not.toHaveProperty('password');
    expect(held[0]).not.toHaveProperty('sealed');
  });

  test('one that its creator has not asked to see never expires', async () => {
    const id = await settle(1, 'a');
    expect(await store.passwords.eraseExpired(Number.MAX_SAFE_INTEGER)).toBe(0);
    expect(await store.passwords.countUndelivered()).toBe(1);
    expect((await store.passwords.find(id))?.password.reveal()).toBe('a');
  });

  test('one that its creator has asked to see is held for its time, which showing it again does not make longer', async () => {
    const id = await settle(1, 'a');
    await store.passwords.startHold(id, T0, 1000);
    await store.passwords.startHold(id, T0 + 900, 1000);
    expect(await store.passwords.countUndelivered()).toBe(0);
    expect(await store.passwords.find(id)).toMatchObject({ heldUntil: T0 + 1000 });
    expect(await store.passwords.eraseExpired(T0 + 999)).toBe(0);
    expect(await store.passwords.eraseExpired(T0 + 1000)).toBe(1);
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
    expect(await store.passwords.countUndelivered()).toBe(2);
  });

  test('stays when a server of the same ID is deleted in another account', async () => {
    const id = await settle(1, 'a');
    await store.apiKeys.put('T1', new Secret('another key'), 'U1', T0 + 5);
    await deleted(1, 'another-server');
    expect(await store.passwords.find(id)).toBeDefined();
    await deleted(1, 'web-1');
    expect(await store.passwords.find(id)).toBeUndefined();
  });

  test('is erased once, and only its own', async () => {
    const [mine, theirs] = [await settle(1, 'a'), await settle(2, 'b')];
    expect(await store.passwords.erase(mine)).toBe(true);
    expect(await store.passwords.erase(mine)).toBe(false);
    expect(await store.passwords.listHeld('T1')).toMatchObject([{ operationId: theirs }]);
    expect(await store.ledger.find(mine)).toMatchObject({ state: 'settled', hasPassword: true });
  });
});
