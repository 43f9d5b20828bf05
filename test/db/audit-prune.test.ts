import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { addTimed, makeDatabase } from './audit-support.ts';
import { engines, entry, T0 } from './support.ts';

const AT = T0 + 1e6;

describe.each(engines)('pruning on $name', ({ make }) => {
  test('removes older entries in every workspace, and leaves chains that verify', async () => {
    const store = await make();
    await addTimed(store, 10);
    await addTimed(store, 3, { workspaceId: 'T2' });
    await addTimed(store, 2, { workspaceId: 'T3', at: T0 + 50 });
    await store.audit.prune(T0 + 7, AT);
    const pruned = (count: number) => ({ pruned: { count, at: AT } });
    expect(await store.audit.verify('T1')).toEqual({ ok: true, entries: 6, from: 7, to: 12, ...pruned(6) });
    expect(await store.audit.verify('T2')).toEqual({ ok: true, entries: 2, from: 4, to: 5, ...pruned(3) });
    expect(await store.audit.verify('T3')).toEqual({ ok: true, entries: 2, from: 1, to: 2 });
  });

  test('is itself audited, before and after, every time', async () => {
    const store = await make();
    await addTimed(store, 3);
    await store.audit.prune(T0 + 2, AT);
    await store.audit.prune(T0 + 3, AT);
    await store.audit.prune(T0 + 3, AT);
    const found = await store.audit.list({ workspaceId: 'T1', limit: 9 });
    expect(found.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      'audit_prune done',
      'audit_prune started',
      'audit_prune done',
      'audit_prune started',
      'create done',
    ]);
    expect(found[0]).toMatchObject({ actorId: 'app', surface: 'background', at: AT });
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
    const adding = addTimed(store, 100, { at: AT, actId: 'later' });
    for (const most of [100, 250, 400, 1e9]) await store.audit.prune(T0 + most, AT);
    await adding;
    isPruning = false;
    await verifying;
    expect(new Set(verdicts)).toEqual(new Set([true]));
    expect(await store.audit.verify('T1')).toMatchObject({
      ok: true,
      entries: 108,
      to: 708,
      pruned: { count: 600 },
    });
  });

  test('stops at the first newer entry, even if an older one follows it', async () => {
    const store = await make();
    for (const at of [1, 9, 2]) await store.audit.add(entry({ at: T0 + at }));
    await store.audit.prune(T0 + 5, AT);
    expect(await store.audit.verify('T1')).toMatchObject({ ok: true, entries: 4, pruned: { count: 1 } });
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
  await store.audit.prune(T0 + 5, AT);
  const [last, first, ...rest] = await store.audit.list({ workspaceId: 'T1', limit: 9 });
  expect(rest).toHaveLength(problem === 'removed' ? 4 : 5);
  expect([first, last]).toMatchObject([{ outcome: 'started' }, { outcome: 'failed', code: problem }]);
  expect(await store.audit.verify('T1')).toMatchObject({ ok: false, problem });
});
