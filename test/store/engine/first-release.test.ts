import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import {
  OLD_APPROVALS,
  OLD_KEY,
  OLD_OPERATIONS,
  OLD_PASSWORD,
  writeFirstRelease,
} from '../../support/first-release.ts';
import { makeFolder, open, sentBy, T0, vault } from '../support.ts';

let store: Store;
beforeEach(async () => {
  const path = join(makeFolder(), 'vps.sqlite');
  await writeFirstRelease({ path, vault, workspaceId: 'T1', userId: 'U1', grantee: 'U2', at: T0 });
  store = await open(`sqlite:${path}`);
});

const operation = (name: keyof typeof OLD_OPERATIONS) => store.ledger.find(OLD_OPERATIONS[name]);

describe('a database of the first release', () => {
  test.each([
    ['prepared', { state: 'prepared' }],
    ['sent', { state: 'sent', knownIds: [7] }],
    ['settled_create', { state: 'settled', serverId: 7, hasPassword: true, isLate: false }],
    ['settled_renewal', { state: 'settled', serverId: 7, paidUntil: T0 + 31 * 86_400_000 }],
    ['refused', { state: 'refused', reason: { code: 'not_enough_balance', details: {} } }],
    ['not_done', { state: 'refused', reason: { code: 'not_done', details: {} } }],
    ['in_doubt', { state: 'unconfirmed', reason: { code: 'no_answer', details: {} }, needsDecision: false }],
    ['needs_person', { state: 'unconfirmed', reason: { code: 'contradiction' }, needsDecision: true }],
  ] as const)('has the order "%s" stand as it stood, at the same price, under the same key', async (name, meant) => {
    expect(await operation(name)).toMatchObject({ ...meant, price: 590, actorId: 'U1', keyGeneration: 1 });
  });

  test('does not take an order from before its API key was set for one of that key', async () => {
    expect(await operation('confirmed_before_key')).toMatchObject({ state: 'unconfirmed', keyGeneration: 0 });
    expect(await store.apiKeys.find('T1')).toMatchObject({ setBy: 'U1', generation: 1 });
  });

  test('lets no old confirmation be sent: its user may have read that nothing was done', async () => {
    const { prepared } = OLD_OPERATIONS;
    await store.ledger.lease(prepared, { owner: 'a', now: T0, until: T0 + 9 });
    const versions = await store.ledger.readVersions('T1');
    expect(await store.ledger.markSent(prepared, sentBy('a', T0, { versions }))).toBe('refused');
  });

  test('has everything looked for again that was ended, or left, without proof', async () => {
    const due: string[] = [];
    for (;;) {
      const next = await store.ledger.leaseDue({ owner: 'a', now: T0, until: T0 + 60_000 });
      if (!next) break;
      due.push(next.id);
    }
    const { prepared, sent, confirmed_before_key, not_done, in_doubt, needs_person } = OLD_OPERATIONS;
    expect(due.sort()).toEqual(
      [prepared, sent, confirmed_before_key, not_done, in_doubt, needs_person].sort(),
    );
  });

  test('counts the same money as spent', async () => {
    const { workspace, person } = await store.ledger.sumSpent('T1', 'U1', 0);
    // Nine orders, of which two were refused.
    expect([workspace, person]).toEqual([7 * 590, 7 * 590]);
  });

  test('shows its password to its creator, held without a limit until it is asked for, and opens its key', async () => {
    const held = await store.passwords.find(OLD_OPERATIONS.settled_create);
    expect(held).toMatchObject({ creatorId: 'U1', serverId: 7, label: 'web-1' });
    expect(held?.heldUntil).toBeUndefined();
    expect(held?.password.reveal()).toBe(OLD_PASSWORD);
    expect((await store.apiKeys.find('T1'))?.key.reveal()).toBe(OLD_KEY);
  });

  test('keeps its approvals, under the key that they were requested under', async () => {
    expect(await store.approvals.find(OLD_APPROVALS.open)).toMatchObject({ state: 'open', keyGeneration: 1 });
    expect(await store.approvals.find(OLD_APPROVALS.denied)).toMatchObject({ state: 'denied' });
  });

  test('keeps its roles, and an audit that is as it was written', async () => {
    expect(await store.grants.list('T1')).toMatchObject([
      { subjectId: 'U2', role: 'manager', pattern: 'web-*' },
    ]);
    expect(await store.audit.verify('T1')).toMatchObject({ ok: true, entries: 2 });
    expect((await store.audit.list({ workspaceId: 'T1', limit: 9 })).map(({ outcome }) => outcome)).toEqual([
      'done',
      'started',
    ]);
  });
});
