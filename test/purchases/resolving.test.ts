import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AppContext } from '../../src/context.ts';
import { createEntry } from '../../src/core/entry.ts';
import type { Server } from '../../src/core/server.ts';
import { decideUnconfirmed } from '../../src/purchases/decide.ts';
import { nextDueAt, type Operation } from '../../src/purchases/operation.ts';
import { judge as judgeBy } from '../../src/purchases/pay.ts';
import { makeOperation, ORDER } from '../../src/sandbox/gallery/fixtures/samples.ts';
import { entry, markSent, NO_ANSWER, newCreate, open, T0 } from '../db/support.ts';
import { makeContext } from '../support/context.ts';

const SENT_AT = 1_790_000_000_000;
const DAY_MS = 86_400_000;
const MONTH_END = SENT_AT + 30 * DAY_MS;

const judge = (
  operation: Operation,
  servers: readonly Server[],
  othersIds: readonly number[] = [],
  more: { readonly isComplete?: boolean; readonly hasRival?: boolean; readonly now?: number } = {},
) => {
  const { isComplete = true, hasRival = false, now = SENT_AT } = more;
  return judgeBy(operation, {
    list: { servers, extent: isComplete ? 'whole' : 'part', unreadableCount: 0 },
    othersIds,
    hasRival,
    now,
  });
};

const times = { createdAt: SENT_AT, sentAt: SENT_AT, sendBy: SENT_AT };
const unconfirmed = { state: 'unconfirmed', reason: NO_ANSWER, ...times } as const;
const create = (knownIds: readonly number[] = [1, 2]) =>
  makeOperation({ ...unconfirmed, purchase: { kind: 'create', order: ORDER }, knownIds });
const RENEWAL = { kind: 'renew', serverId: 7, label: 'web-1', paidUntil: 1000 } as const;
const renew = makeOperation({ ...unconfirmed, purchase: RENEWAL });
const server = (id: number, label: string, paidUntil: number | undefined = MONTH_END) => ({
  id,
  label,
  state: 'running',
  paidUntil,
});

const unpaid = (id: number, label: string) => ({ id, label, state: 'running' });

describe('an unconfirmed create', () => {
  test.each([
    ['a new server of that label', [server(1, 'a'), server(3, 'web-1')], { kind: 'done', serverId: 3 }],
    ['a label that was folded and trimmed', [server(3, ' WEB-1')], { kind: 'contradictory' }],
    ['a month that ends too soon', [server(3, 'web-1', SENT_AT + 19 * DAY_MS)], { kind: 'contradictory' }],
    ['a month that ends too late', [server(3, 'web-1', SENT_AT + 41 * DAY_MS)], { kind: 'contradictory' }],
    ['a paid time that is not known', [unpaid(3, 'web-1')], { kind: 'contradictory' }],
    ['a server that is deleted', [{ ...server(3, 'web-1'), state: ' Deleted' }], { kind: 'nothing_yet' }],
    ['only servers that were there before', [server(1, 'web-1'), server(2, 'b')], { kind: 'nothing_yet' }],
    ['a new server of another label', [server(3, 'db-1')], { kind: 'nothing_yet' }],
    ['two new servers of that label', [server(3, 'web-1'), server(4, 'web-1')], { kind: 'contradictory' }],
    ['an empty account', [], { kind: 'nothing_yet' }],
  ])('is judged by %s', (_words, servers, verdict) => {
    expect(judge(create(), servers)).toEqual(verdict);
  });

  test('that was not marked as sent in a restored database never takes a server: any may be older than the order', () => {
    const { sentAt: _, ...never } = create([]);
    for (const servers of [[server(3, 'web-1')], [server(1, 'a'), server(3, 'web-1')]])
      expect(judge(never, servers)).toEqual({ kind: 'contradictory' });
    expect(judge(never, [server(1, 'a')])).toEqual({ kind: 'nothing_yet' });
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
        const verdict = judge(create(known), servers, others);
        if (verdict.kind !== 'done') return;
        expect(listed).toContain(verdict.serverId);
        expect([...known, ...others]).not.toContain(verdict.serverId);
      }),
    );
  });

  test('may have begun its month whenever the supplier got to it', () => {
    const later = { now: SENT_AT + 50 * DAY_MS };
    const found = judge(create(), [server(3, 'web-1', SENT_AT + 70 * DAY_MS)], [], later);
    expect(found).toEqual({ kind: 'done', serverId: 3 });
  });

  test('is left to a manager when another order of its label may have made the server', () => {
    expect(judge(create(), [server(3, 'web-1')], [], { hasRival: true })).toEqual({ kind: 'contradictory' });
    expect(judge(create(), [server(3, 'other')], [], { hasRival: true })).toEqual({ kind: 'nothing_yet' });
  });

  test('is not judged by a list that is incomplete, whatever it shows', () => {
    const incomplete = { isComplete: false };
    expect(judge(create(), [server(3, 'web-1')], [], incomplete)).toEqual({ kind: 'nothing_yet' });
    expect(judge(renew, [], [], incomplete)).toEqual({ kind: 'nothing_yet' });
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
    ['a paid time that can’t be read', [unpaid(7, 'web-1')], { kind: 'contradictory' }],
    [
      'a paid time that has moved, of a deleted server',
      [{ ...server(7, 'web-1', 2000), state: 'deleted' }],
      { kind: 'contradictory' },
    ],
    ['a server that is gone', [server(8, 'web-1', 2000)], { kind: 'contradictory' }],
  ])('is judged by %s', (_words, servers, verdict) => {
    expect(judge(renew, servers)).toEqual(verdict);
  });
});

test('looks come within 3 s at first, and then ever more rarely, without end', () => {
  const waits: number[] = [];
  for (let now = SENT_AT; now < SENT_AT + 60 * DAY_MS; ) {
    const next = nextDueAt({ ...create(), notifiedAt: SENT_AT }, now);
    waits.push(next - now);
    now = next;
  }
  expect(waits[0]).toBeLessThanOrEqual(3000);
  expect(waits).toEqual([...waits].sort((a, b) => a - b));
  expect(Math.max(...waits)).toBe(DAY_MS);
  expect(waits.length).toBeLessThan(150);
});

test('an outcome that could not be delivered is sent again at least every five minutes', () => {
  const now = SENT_AT + 60 * DAY_MS;
  expect(nextDueAt(create(), now) - now).toBe(300_000);
});

test('looks come no more often than before once the clock was set back to a day before the order', () => {
  const looked = { ...create(), notifiedAt: SENT_AT };
  const waitAt = (now: number) => nextDueAt(looked, now) - now;
  expect(waitAt(SENT_AT - DAY_MS)).toBe(waitAt(SENT_AT + DAY_MS));
});

test.each([
  ['was created in the previous account', { isDoneElsewhere: true }],
  ['wasn’t created', {}],
])('a manager who says that a server %s at the same moment as another one is told that it was resolved before', async (_, seen) => {
  const store = await open('sqlite::memory:');
  await store.workspaces.put({ id: 'T1', name: 'Acme' });
  const { ledger } = store;
  const operation = newCreate();
  const { id } = operation;
  await ledger.prepare(operation);
  await markSent(store, id, T0);
  await ledger.markUnconfirmed(id, { reason: NO_ANSWER }, entry());
  await ledger.markNeedsDecision(id, entry());
  const ports = makeContext(store, { ownersOf: () => ['U1', 'U2'] });
  const decide = (app: AppContext, userId: string) => {
    const caller = { actor: { workspaceId: 'T1', userId, channelId: 'C1' }, surface: 'modal' } as const;
    return createEntry(app).execute(decideUnconfirmed, { operationId: id, ...seen }, caller);
  };
  const first = () => decide(ports, 'U1');
  const later: AppContext = {
    ...ports,
    ledger: {
      ...ledger,
      settle: async (...by) => first().then(() => ledger.settle(...by)),
      refuse: async (...by) => first().then(() => ledger.refuse(...by)),
    },
  };
  await expect(decide(later, 'U2')).rejects.toMatchObject({ code: 'doubt_over' });
});
