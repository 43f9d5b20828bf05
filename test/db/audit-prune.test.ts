import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { addTimed, makeDatabase } from './audit-support.ts';
import { engines, entry, T0 } from './support.ts';

const BY = { at: T0 + 1e6, actorId: 'app', surface: 'background' } as const;

describe.each(engines)('pruning on $name', ({ make }) => {
  test('removes older entries in every workspace, and leaves chains that verify', async () => {
    const store = await make();
    await addTimed(store, 10);
    await addTimed(store, 3, { workspaceId: 'T2' });
    await addTimed(store, 2, { workspaceId: 'T3', at: T0 + 50 });
    expect(await store.audit.prune(T0 + 7, BY)).toEqual([
      { workspaceId: 'T1', removed: 6 },
      { workspaceId: 'T2', removed: 3 },
      { workspaceId: 'T3', removed: 0 },
    ]);
    const pruned = (count: number) => ({ pruned: { count, at: BY.at } });
    expect(await store.audit.verify('T1')).toEqual({ ok: true, entries: 6, from: 7, to: 12, ...pruned(6) });
    expect(await store.audit.verify('T2')).toEqual({ ok: true, entries: 2, from: 4, to: 5, ...pruned(3) });
    expect(await store.audit.verify('T3')).toEqual({ ok: true, entries: 2, from: 1, to: 2 });
  });

  test('is itself audited, before and after, every time', async () => {
    const store = await make();
    await addTimed(store, 3);
    await store.audit.prune(T0 + 2, BY);
    await store.audit.prune(T0 + 3, BY);
    await store.audit.prune(T0 + 3, BY);
    const found = await store.audit.list({ workspaceId: 'T1', limit: 9 });
    expect(found.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      'audit_prune done',
      'audit_prune started',
      'audit_prune done',
      'audit_prune started',
      'create done',
    ]);
    expect(found[0]).toMatchObject({ actorId: 'app', surface: 'background', at: BY.at });
    expect(await store.audit.verify('T1')).toMatchObject({ ok: true, entries: 5, pruned: { count: 2 } });
  });

  test('removes all existing entries page by page, and never later ones; the chain verifies at every moment', async () => {
    const store = await make();
    await addTimed(store, 600);
    let isPruning = true;
    const verdicts: unknown[] = [];
    const verifying = (async () => {
      for (; isPruning; await setImmediate()) verdicts.push((await store.audit.verify('T1')).ok);
    })();
    const adding = addTimed(store, 100, { at: BY.at, actId: 'later' });
    let removed = 0;
    for (const most of [100, 250, 400, 1e9])
      for (const outcome of await store.audit.prune(T0 + most, BY)) removed += outcome.removed;
    await adding;
    isPruning = false;
    await verifying;
    expect(removed).toBe(600);
    expect(new Set(verdicts)).toEqual(new Set([true]));
    expect(await store.audit.verify('T1')).toMatchObject({ ok: true, entries: 108, to: 708 });
  });

  test('stops at the first newer entry, even if an older one follows it', async () => {
    const store = await make();
    for (const at of [1, 9, 2]) await store.audit.add(entry({ at: T0 + at }));
    expect(await store.audit.prune(T0 + 5, BY)).toMatchObject([{ removed: 1 }]);
    expect(await store.audit.verify('T1')).toMatchObject({ ok: true, entries: 4 });
  });
});

test.each([
  ['an entry that was changed', "update audit set actor_id = 'U9' where seq = 3", 'changed'],
  ['a gap', 'delete from audit where seq = 3', 'removed'],
  ['a beginning that was changed', "update audit_heads set pruned_seq = 1, pruned_signature = 'x'", 'head'],
])('pruning removes nothing where there is %s, and audits why', async (_, sql, problem) => {
  const { open, exec } = makeDatabase();
  const store = await open();
  await addTimed(store, 5);
  await exec(sql);
  expect(await store.audit.prune(T0 + 5, BY)).toMatchObject([{ removed: 0, fault: { problem } }]);
  const [last, first] = await store.audit.list({ workspaceId: 'T1', limit: 2 });
  expect([first, last]).toMatchObject([{ outcome: 'started' }, { outcome: 'failed', code: problem }]);
  expect(await store.audit.verify('T1')).toMatchObject({ ok: false, problem });
});
