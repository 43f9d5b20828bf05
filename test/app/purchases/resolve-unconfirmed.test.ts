import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countStrangers, judge } from '../../../src/app/purchases/resolve-unconfirmed.ts';
import { nextDueAt } from '../../../src/app/purchases/take-due-operation.ts';
import type { Operation, Purchase } from '../../../src/domain/operation.ts';

const SENT_AT = 1_790_000_000_000;

function unconfirmed(purchase: Purchase, knownIds: readonly number[] = []): Operation {
  return {
    id: '01',
    workspaceId: 'T1',
    actorId: 'U1',
    purchase,
    state: 'unconfirmed',
    reason: { code: 'no_answer', details: {} },
    knownIds,
    hasPassword: false,
    needsDecision: false,
    createdAt: SENT_AT,
    sentAt: SENT_AT,
  };
}

const create = (label = 'web-1', knownIds: readonly number[] = [1, 2]) =>
  unconfirmed({ kind: 'create', order: { plan: 's', location: 'l', image: 'i', label } }, knownIds);
const renew = unconfirmed({ kind: 'renew', serverId: 7, label: 'web-1', paidUntil: 1000 });
const server = (id: number, label: string, paidUntil?: number) => ({
  id,
  label,
  state: 'running',
  ...(paidUntil === undefined ? {} : { paidUntil }),
});

describe('an unconfirmed create', () => {
  test.each([
    ['a new server of that label', [server(1, 'a'), server(3, 'web-1')], { kind: 'done', serverId: 3 }],
    ['a label that the service has folded and trimmed', [server(3, ' WEB-1')], { kind: 'done', serverId: 3 }],
    ['only servers that were there before', [server(1, 'web-1'), server(2, 'b')], { kind: 'nothing_yet' }],
    ['a new server of another label', [server(3, 'db-1')], { kind: 'nothing_yet' }],
    ['two new servers of that label', [server(3, 'web-1'), server(4, 'web-1')], { kind: 'contradictory' }],
    ['an empty account', [], { kind: 'nothing_yet' }],
  ])('is judged by %s', (_words, servers, verdict) => {
    expect(judge(create(), servers, [])).toEqual(verdict);
  });

  test('never takes a server that another order has created', () => {
    expect(judge(create(), [server(3, 'web-1')], [3])).toEqual({ kind: 'nothing_yet' });
    expect(judge(create(), [server(3, 'web-1'), server(4, 'web-1')], [3])).toEqual({
      kind: 'done',
      serverId: 4,
    });
  });

  test('never takes a server that was there before, whatever the list holds', () => {
    const ids = () => fc.uniqueArray(fc.nat(50));
    fc.assert(
      fc.property(ids(), ids(), ids(), (known, listed, others) => {
        const servers = listed.map((id) => server(id, id % 2 ? 'web-1' : 'other'));
        const verdict = judge(create('web-1', known), servers, others);
        if (verdict.kind !== 'done') return;
        expect(listed).toContain(verdict.serverId);
        expect([...known, ...others]).not.toContain(verdict.serverId);
      }),
    );
  });

  test('counts new servers that no other order has created: one of them may be ours under a changed label', () => {
    expect(countStrangers(create(), [server(1, 'a'), server(3, 'x'), server(4, 'y')], [4])).toBe(1);
  });
});

describe('an unconfirmed renewal', () => {
  test.each([
    [
      'a paid time that has moved',
      [server(7, 'web-1', 2000)],
      { kind: 'done', serverId: 7, paidUntil: 2000 },
    ],
    ['a paid time that stands still', [server(7, 'web-1', 1000)], { kind: 'nothing_yet' }],
    ['a paid time that went back', [server(7, 'web-1', 900)], { kind: 'contradictory' }],
    ['a paid time that can’t be read', [server(7, 'web-1')], { kind: 'contradictory' }],
    ['a server that is gone', [server(8, 'web-1', 2000)], { kind: 'contradictory' }],
  ])('is judged by %s', (_words, servers, verdict) => {
    expect(judge(renew, servers, [])).toEqual(verdict);
  });
});

test('looks come within 3 s at first, and then ever more rarely, five minutes apart at most', () => {
  const waits: number[] = [];
  for (let now = SENT_AT; now < SENT_AT + 3_600_000; ) {
    const next = nextDueAt(create(), now);
    waits.push(next - now);
    now = next;
  }
  expect(waits[0]).toBeLessThanOrEqual(3000);
  expect(Math.max(...waits)).toBe(300_000);
  expect(waits).toEqual([...waits].sort((a, b) => a - b));
  expect(waits.length).toBeLessThan(40);
});
