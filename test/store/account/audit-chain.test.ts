import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AuditFault } from '../../../src/account/ports.ts';
import type { Store } from '../../../src/context.ts';
import { engines, entry, markSent, newCreate, T0 } from '../support.ts';
import { anyEntry, makeDatabase, RESTORE, SNAPSHOT, vaultNamed, vaultOf } from './audit-support.ts';

const LENGTH = 9;
const COLUMNS = [
  'actor_id',
  'channel_id',
  'surface',
  'action',
  'act_id',
  'server_id',
  'label',
  'label_key',
  'outcome',
  'code',
  'operation_id',
  'money',
  'at',
  'id',
  'previous',
  'signature',
];

interface Forgery {
  readonly sql: string;
  readonly parameters?: readonly (string | number | null)[];
  readonly found: Partial<AuditFault>;
}

const anySeq = fc.integer({ min: 1, max: LENGTH });
const idOf = (seq: number) => `(select id from kept_entries where workspace_id = 'T1' and seq = ${seq})`;

const changed = fc
  .tuple(anySeq, fc.constantFrom(...COLUMNS), fc.oneof(fc.string(), fc.integer(), fc.maxSafeInteger()))
  .map(
    ([seq, column, value]): Forgery => ({
      sql: `update audit set ${column} = ? || coalesce(${column}, '') where id = ${idOf(seq)}`,
      // Something is always before it now, so that it can't be the same as it was.
      parameters: [`~${value}`],
      found: { seq, problem: 'changed' },
    }),
  );
const emptied = fc.tuple(anySeq, fc.constantFrom('label', 'code', 'money', 'server_id', 'channel_id')).map(
  ([seq, column]): Forgery => ({
    sql: `update audit set ${column} = case when ${column} is null then 0 end where id = ${idOf(seq)}`,
    found: { seq, problem: 'changed' },
  }),
);
const removed = anySeq.map(
  (seq): Forgery => ({
    sql: `delete from audit where id = ${idOf(seq)}`,
    found: { seq, problem: 'removed' },
  }),
);
const truncated = anySeq.map(
  (seq): Forgery => ({
    sql: `delete from audit where workspace_id = 'T1' and seq >= ${seq}`,
    found: { seq, problem: 'removed' },
  }),
);
const beheaded = fc.tuple(fc.integer({ min: 1, max: LENGTH - 1 }), fc.boolean()).map(
  ([seq, isChanged]): Forgery => ({
    sql: `delete from audit where workspace_id = 'T1' and seq > ${seq};
      ${
        isChanged
          ? `update audit_chains set ends = json_object('last', json_object('seq', ${seq}, 'signature',
              (select signature from kept_entries where workspace_id = 'T1' and seq = ${seq}))) where workspace_id = 'T1'`
          : "delete from audit_chains where workspace_id = 'T1'"
      }`,
    found: { seq, problem: 'head' },
  }),
);
const swapped = fc.uniqueArray(anySeq, { minLength: 2, maxLength: 2 }).map(
  ([one = 0, other = 0]): Forgery => ({
    sql: `update audit set seq = ${one + other} - seq where id in (${idOf(one)}, ${idOf(other)})`,
    found: { seq: Math.min(one, other), problem: 'reordered' },
  }),
);
const renumbered = fc.tuple(anySeq, fc.constantFrom(-1, 0, 2.5, 10, 99, 2 ** 60, "'x'")).map(
  ([seq, to]): Forgery => ({
    sql: `update audit set seq = ${to} where id = ${idOf(seq)}`,
    found: {},
  }),
);
const brought = fc.tuple(anySeq, fc.constantFrom('0', 'z')).map(
  ([seq, id]): Forgery => ({
    sql: `create temp table copy as select * from audit where workspace_id = 'T2' and seq = ${seq};
      update copy set workspace_id = 'T1', id = '${id}';
      insert into audit select * from copy; drop table copy`,
    found: { seq, id, problem: 'changed' },
  }),
);
const given = anySeq.map(
  (seq): Forgery => ({
    sql: `update audit set workspace_id = 'T2' where id = ${idOf(seq)}`,
    found: { seq, problem: 'removed' },
  }),
);
const ended = fc.constant<Forgery>({
  sql: `update audit_chains set (ends, signature) = (select ends, signature from kept_chains where workspace_id = 'T2')
    where workspace_id = 'T1'`,
  found: { seq: LENGTH, problem: 'head' },
});
const forgeries = {
  changed,
  emptied,
  removed,
  truncated,
  beheaded,
  swapped,
  renumbered,
  brought,
  given,
  ended,
};

async function makeChains() {
  const database = makeDatabase();
  const store = await database.open();
  const [ours, theirs] = [fc.sample(anyEntry, LENGTH), fc.sample(anyEntry, LENGTH)];
  for (const one of ours) await store.audit.add(one);
  for (const one of theirs) await store.audit.add({ ...one, workspaceId: 'T2' });
  database.bySql((db) => db.exec(SNAPSHOT));
  return { ...database, store };
}

describe.each(engines)('the chain on $name', ({ make }) => {
  test('of any entries verifies', async () => {
    const { audit } = await make();
    let entries = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyEntry, { maxLength: 5 }), async (some) => {
        for (const one of some) await audit.add(one);
        entries += some.length;
        const ends = entries === 0 ? { from: 0, to: 0 } : { from: 1, to: entries };
        expect(await audit.verify('T1')).toEqual({ ok: true, entries, ...ends });
      }),
      { numRuns: 30 },
    );
  });

  test('has no gap when dozens are added at once, to two workspaces', async () => {
    const { audit } = await make();
    const both = ['T1', 'T2'].flatMap((workspaceId) =>
      Array.from({ length: 36 }, () => entry({ workspaceId })),
    );
    await Promise.all(both.map((one) => audit.add(one)));
    for (const id of ['T1', 'T2']) {
      expect(await audit.verify(id)).toEqual({ ok: true, entries: 36, from: 1, to: 36 });
    }
    expect(await audit.listWorkspaces()).toEqual(['T1', 'T2']);
  });

  test('contains nothing from a transaction that was rolled back', async () => {
    const { audit, ledger } = await make();
    const operation = newCreate();
    await ledger.prepare(operation);
    await markSent(ledger, operation.id, T0);
    const audited = entry({ operationId: operation.id });
    const race = [1, 2, 3].map((serverId) => ledger.settle(operation.id, { at: T0, serverId }, audited));
    expect((await Promise.all(race)).filter(Boolean)).toHaveLength(1);
    expect(await audit.verify('T1')).toMatchObject({ ok: true, entries: 1 });
  });
});

describe('a change made directly in the database', () => {
  test.each(Object.entries(forgeries))('is detected: %s', async (_, anyForgery) => {
    const { store, bySql } = await makeChains();
    await fc.assert(
      fc.asyncProperty(anyForgery, async ({ sql, parameters, found }) => {
        bySql((db) => (parameters ? db.prepare(sql).run(...parameters) : db.exec(sql)));
        const verdict = await store.audit.verify('T1');
        expect(verdict).toMatchObject({ ok: false, ...found, words: expect.stringMatching(/^[A-Z].+\.$/) });
        bySql((db) => db.exec(RESTORE));
        expect(await store.audit.verify('T1')).toMatchObject({ ok: true, entries: LENGTH });
      }),
      { numRuns: 40 },
    );
  });

  test('is still detected after the app has continued, and doesn’t stop payments', async () => {
    const { store, bySql } = await makeChains();
    await fc.assert(
      fc.asyncProperty(fc.oneof(...Object.values(forgeries)), async ({ sql, parameters }) => {
        bySql((db) => (parameters ? db.prepare(sql).run(...parameters) : db.exec(sql)));
        for (const outcome of ['started', 'done'] as const) await store.audit.add(entry({ outcome }));
        expect(await store.audit.verify('T1')).toMatchObject({ ok: false });
        bySql((db) => db.exec(RESTORE));
      }),
      { numRuns: 100 },
    );
  });
});

describe('keys', () => {
  const addTo = async (store: Store, count: number) => {
    for (let one = 0; one < count; one++) await store.audit.add(entry());
  };

  test('that are no longer used for signing still verify', async () => {
    const { open } = makeDatabase();
    for (const keys of [['k1'], ['k2', 'k1'], ['k3', 'k2', 'k1']]) {
      const store = await open(vaultOf(...keys));
      await addTo(store, 2);
      expect(await store.audit.verify('T1')).toMatchObject({ ok: true });
      await store.close();
    }
  });

  test('that are missing are named, payments continue, and everything verifies once they are back', async () => {
    const { open, introduce } = makeDatabase();
    await introduce('k1', 'k2', 'k3');
    const before = await open(vaultOf('k1'));
    await addTo(before, 3);
    await before.close();
    for (const lone of ['k2', 'k3']) {
      const without = await open(vaultOf(lone));
      await addTo(without, 2);
      const verdict = await without.audit.verify('T1');
      const words = expect.stringContaining('under the key "k');
      expect(verdict).toMatchObject({ ok: false, problem: 'key_missing', words });
      await without.close();
    }
    const back = await open(vaultOf('k3', 'k2', 'k1'));
    expect(await back.audit.verify('T1')).toEqual({ ok: true, entries: 7, from: 1, to: 7 });
    await addTo(back, 1);
    expect(await back.audit.verify('T1')).toMatchObject({ ok: true, entries: 8 });
  });

  test('that are missing don’t hide entries that are removed in the meantime', async () => {
    const { open, introduce, bySql } = makeDatabase();
    await introduce('k1', 'k2');
    const before = await open(vaultOf('k1'));
    await addTo(before, 3);
    await before.close();
    bySql((db) => db.exec('delete from audit where seq = 3'));
    const without = await open(vaultOf('k2'));
    await addTo(without, 2);
    await without.close();
    const back = await open(vaultOf('k2', 'k1'));
    expect(await back.audit.verify('T1')).toMatchObject({ ok: false, seq: 3, problem: 'removed' });
  });

  test('of another keyring are not accepted, even under the same name', async () => {
    const { open } = makeDatabase();
    const ours = await open(vaultOf('k1'));
    await addTo(ours, 2);
    await ours.close();
    await expect(open(vaultNamed('k1'))).rejects.toThrow('a different key "k1"');
    const again = await open(vaultOf('k1'));
    await addTo(again, 1);
    expect(await again.audit.verify('T1')).toMatchObject({ ok: true, entries: 3 });
  });
});
