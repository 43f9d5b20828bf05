import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import type { AuditEntry } from '../../../src/core/audit-entry.ts';
import { engines, entry, T0 } from '../support.ts';
import { makeDatabase, RESTORE, SNAPSHOT, vaultOf } from './audit-support.ts';

const BY = { at: T0 + 1e6, actorId: 'app', surface: 'background' } as const;

/** Entries at T0 + 1, T0 + 2 … */
async function addTimed({ audit }: Store, count: number, more: Partial<AuditEntry> = {}): Promise<void> {
  const all = Array.from({ length: count }, (_, n) => entry({ at: T0 + n + 1, ...more }));
  // One after the other: engines with several writers give no order to others.
  for (const one of all) await audit.add(one);
}

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

  test('can remove all existing entries, page by page, and never later ones', async () => {
    const store = await make();
    await addTimed(store, 600, { at: T0 });
    const both = [
      store.audit.prune(T0 + 1e9, BY),
      addTimed(store, 100, { at: BY.at, actId: 'later' }),
    ] as const;
    const [[outcome]] = await Promise.all(both);
    expect(outcome).toEqual({ workspaceId: 'T1', removed: 600 });
    expect(await store.audit.verify('T1')).toMatchObject({ ok: true, entries: 102, to: 702 });
  });

  test('stops at the first newer entry, even if an older one follows it', async () => {
    const store = await make();
    for (const at of [1, 9, 2]) await store.audit.add(entry({ at: T0 + at }));
    expect(await store.audit.prune(T0 + 5, BY)).toMatchObject([{ removed: 1 }]);
    expect(await store.audit.verify('T1')).toMatchObject({ ok: true, entries: 4 });
  });

  test('doesn’t disturb a verification at the same time', async () => {
    const store = await make();
    await addTimed(store, 600);
    const verdicts: unknown[] = [];
    const verifying = (async () => {
      for (let n = 0; n < 8; n++) verdicts.push((await store.audit.verify('T1')).ok);
    })();
    for (const most of [100, 250, 400, 600]) await store.audit.prune(T0 + most, BY);
    await verifying;
    expect(verdicts).toEqual(Array.from({ length: 8 }, () => true));
  });
});

describe('a pruned chain', () => {
  async function makePruned() {
    const database = makeDatabase();
    const store = await database.open();
    await addTimed(store, 9);
    await store.audit.prune(T0 + 4, BY);
    database.bySql((db) => db.exec(SNAPSHOT));
    return { ...database, store };
  }

  test('still reveals entries that are changed or removed, and one that is put back before it', async () => {
    const { store, bySql } = await makePruned();
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 4, max: 11 }), fc.boolean(), async (seq, isRemoved) => {
        bySql((db) =>
          db.exec(
            isRemoved
              ? `delete from audit where seq <= ${seq}`
              : `update audit set actor_id = 'U9' where seq = ${seq}`,
          ),
        );
        const found = isRemoved ? { seq: 4, problem: 'removed' } : { seq, problem: 'changed' };
        expect(await store.audit.verify('T1')).toMatchObject({ ok: false, ...found });
        bySql((db) => db.exec(RESTORE));
      }),
      { numRuns: 30 },
    );
    bySql((db) =>
      db.exec(
        "update kept_entries set seq = 3, id = '0' where seq = 4; insert into audit select * from kept_entries where seq = 3",
      ),
    );
    expect(await store.audit.verify('T1')).toMatchObject({ ok: false, seq: 3, id: '0' });
  });

  test('can’t be pruned by hand, since its beginning is signed, too', async () => {
    const { store, bySql } = await makePruned();
    bySql((db) =>
      db.exec(`delete from audit where seq = 4;
        update audit_chains set ends = json_set(ends, '$.pruned.seq', 4, '$.pruned.signature',
          (select signature from kept_entries where seq = 4))`),
    );
    expect(await store.audit.verify('T1')).toMatchObject({ ok: false, problem: 'head' });
  });
});

describe('an altered entry', () => {
  test('is not pruned, nor is anything after it, and the attempt is audited', async () => {
    const { open, bySql } = makeDatabase();
    const store = await open();
    await addTimed(store, 5);
    bySql((db) => db.exec("update audit set outcome = 'denied' where seq = 3"));
    const [outcome] = await store.audit.prune(T0 + 100, BY);
    expect(outcome).toMatchObject({ removed: 0, fault: { seq: 3, problem: 'changed' } });
    const [last, first] = await store.audit.list({ workspaceId: 'T1', limit: 2 });
    expect([first, last]).toMatchObject([{ outcome: 'started' }, { outcome: 'failed', code: 'changed' }]);
    expect(await store.audit.verify('T1')).toMatchObject({ ok: false, seq: 3 });
  });

  test('a missing key stops pruning; once it is back, pruning works again', async () => {
    const { open, introduce } = makeDatabase();
    await introduce('k1', 'k2');
    const before = await open(vaultOf('k1'));
    await addTimed(before, 3);
    await before.close();
    const without = await open(vaultOf('k2'));
    await addTimed(without, 2);
    expect(await without.audit.prune(T0 + 3, BY)).toMatchObject([{ fault: { problem: 'key_missing' } }]);
    await without.close();
    const back = await open(vaultOf('k2', 'k1'));
    expect(await back.audit.prune(T0 + 3, BY)).toEqual([{ workspaceId: 'T1', removed: 2 }]);
    expect(await back.audit.verify('T1')).toMatchObject({ ok: true, from: 3 });
    await back.audit.prune(T0 + 1e9, { ...BY, at: BY.at + 1 });
    await back.close();
    const later = await open(vaultOf('k2'));
    expect(await later.audit.verify('T1')).toMatchObject({ ok: true, entries: 2 });
  });
});
