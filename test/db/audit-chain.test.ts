import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAuditPublisher, parseAuditHead } from '../../src/account/audit.ts';
import type { Store } from '../../src/context.ts';
import { Secret } from '../../src/core/secret.ts';
import type { AuditFault } from '../../src/db/audit-log.ts';
import { silentLog } from '../../src/log.ts';
import { makeContext } from '../support/context.ts';
import { addTimed, anyEntry, makeDatabase, TABLES, vaultOf } from './audit-support.ts';
import { entry, newCreate, settleCreate, T0 } from './support.ts';

const LENGTH = 9;
/** So many of them are pruned. */
const PRUNED = 2;
const COLUMNS = [
  ...['actor_id', 'channel_id', 'surface', 'action', 'act_id', 'server_id', 'label', 'label_key', 'outcome'],
  ...['code', 'operation_id', 'money', 'at', 'id', 'details', 'previous', 'mac'],
];

interface Forgery {
  readonly sql: string;
  readonly parameters?: readonly (string | number | null)[];
  readonly found: Partial<AuditFault>;
}

const anySeq = fc.integer({ min: PRUNED + 1, max: LENGTH });
const ours = (seq: number) => `workspace_id = 'T1' and seq = ${seq}`;
const macOf = (seq: number) => `(select mac from kept_audit where ${ours(seq)})`;
const setHead = (set: string) => `update audit_heads set ${set} where workspace_id = 'T1'`;

const forgeries: Readonly<Record<string, fc.Arbitrary<Forgery>>> = {
  'an entry that was changed': fc
    .tuple(anySeq, fc.constantFrom(...COLUMNS), fc.oneof(fc.string(), fc.integer(), fc.maxSafeInteger()))
    .map(([seq, column, value]) => ({
      sql: `update audit set ${column} = ? || coalesce(${column}, '') where ${ours(seq)}`,
      // Something is always before it now, so that it can't be the same as it was.
      parameters: [`~${value}`],
      found: { seq, problem: 'changed' },
    })),
  'a column that was emptied or filled': fc
    .tuple(anySeq, fc.constantFrom('label', 'code', 'money', 'details', 'server_id', 'channel_id'))
    .map(([seq, column]) => ({
      sql: `update audit set ${column} = case when ${column} is null then 0 end where ${ours(seq)}`,
      found: { seq, problem: 'changed' },
    })),
  'an entry that was removed': anySeq.map((seq) => ({
    sql: `delete from audit where ${ours(seq)}`,
    found: { seq, problem: 'removed' },
  })),
  'newest entries that were removed': anySeq.map((seq) => ({
    sql: `delete from audit where workspace_id = 'T1' and seq >= ${seq}`,
    found: { seq, problem: 'removed' },
  })),
  'newest entries that were removed, with a head that hides it': fc
    .tuple(
      fc.integer({ min: PRUNED + 1, max: LENGTH - 1 }),
      fc.constantFrom("''", "'v1.k9.abc'", 'signature', 'mac', 'pruned_signature'),
    )
    .map(([seq, signature]) => ({
      sql: `delete from audit where workspace_id = 'T1' and seq > ${seq};
        ${setHead(`seq = ${seq}, mac = ${macOf(seq)}`)}; ${setHead(`signature = ${signature}`)}`,
      found: {},
    })),
  'entries that changed places': fc
    .uniqueArray(anySeq, { minLength: 2, maxLength: 2 })
    .map(([one = 0, other = 0]) => ({
      sql: `update audit set seq = -1 where ${ours(one)}; update audit set seq = ${one} where ${ours(other)};
        update audit set seq = ${other} where ${ours(-1)}`,
      found: { seq: Math.min(one, other), problem: 'changed' },
    })),
  'an entry with another number': fc
    .tuple(anySeq, fc.constantFrom(-1, 0, 1, 2.5, 10, 99, "'x'"))
    .map(([seq, to]) => ({ sql: `update audit set seq = ${to} where ${ours(seq)}`, found: {} })),
  'an entry of another workspace': fc.constantFrom(-5, 0, 1, 10, 11).map((seq) => ({
    sql: `create temp table copy as select * from audit where workspace_id = 'T2' and seq = 3;
      update copy set workspace_id = 'T1', seq = ${seq}; insert into audit select * from copy; drop table copy`,
    found: { seq, problem: 'changed' },
  })),
  'a head that was changed or exchanged': fc
    .constantFrom(
      'seq = 3',
      "seq = 'x'",
      "signature = ''",
      "mac = 'x'",
      "(seq, mac, signature) = (select seq, mac, signature from kept_audit_heads where workspace_id = 'T2')",
    )
    .map((set) => ({ sql: setHead(set), found: { problem: 'head' } })),
  'a pruning that was not ours': fc
    .tuple(
      anySeq,
      fc.constantFrom(
        'pruned_signature',
        "''",
        'signature',
        "(select pruned_signature from kept_audit_heads where workspace_id = 'T2')",
      ),
    )
    .map(([seq, signature]) => ({
      sql: `delete from audit where workspace_id = 'T1' and seq <= ${seq};
        ${setHead(`pruned_seq = ${seq}, pruned_mac = ${macOf(seq)}, pruned_signature = ${signature}`)}`,
      found: {},
    })),
  'a pruning whose beginning was put off': fc.constant({
    sql: setHead("pruned_seq = 0, pruned_mac = '', pruned_signature = ''"),
    found: { seq: 1, problem: 'removed' },
  }),
};

async function makeChains() {
  const database = makeDatabase();
  const store = await database.open();
  // The others can't be pruned.
  for (const one of fc.sample(anyEntry, LENGTH)) await store.audit.add({ ...one, workspaceId: 'T2' });
  await addTimed(store, PRUNED, { at: T0 - 2 });
  await store.audit.prune(T0 - 1, T0);
  for (const one of fc.sample(anyEntry, LENGTH - PRUNED - 2)) await store.audit.add(one);
  await database.keep();
  const forge = ({ sql, parameters }: Forgery) =>
    database.bySql((db) => (parameters ? db.prepare(sql).run(...parameters) : db.exec(sql)));
  return { ...database, store, forge };
}

const expectFound = async (store: Store, found: Partial<AuditFault> = {}) => {
  const words = expect.stringMatching(/^[A-Z].+\.$/);
  expect(await store.audit.verify('T1')).toMatchObject({ ok: false, words, ...found });
};

describe('the audit finds what was done directly in the database', () => {
  test.each(Object.entries(forgeries))('%s, also after the app has continued', async (_, anyForgery) => {
    const { store, forge, putBack } = await makeChains();
    await fc.assert(
      fc.asyncProperty(anyForgery, async (forgery) => {
        await forge(forgery);
        await expectFound(store, forgery.found);
        // A damaged audit never stops a payment.
        for (const outcome of ['started', 'done'] as const) await store.audit.add(entry({ outcome }));
        await expectFound(store);
        await putBack();
        expect(await store.audit.verify('T1')).toMatchObject({ ok: true, to: LENGTH });
      }),
      { numRuns: 25 },
    );
  });

  test.each([
    [['audit', 'audit_heads']],
    [['audit_heads']],
  ])('a chain without %s in a workspace with an order', async (tables) => {
    const { open, exec } = makeDatabase();
    const store = await open();
    await addTimed(store, 2);
    await settleCreate(store, newCreate(), { serverId: 7 });
    await exec(...tables.map((table) => `delete from ${table}`));
    await expectFound(store);
    expect(await store.audit.listWorkspaces()).toContain('T1');
    await addTimed(store, 2);
    await expectFound(store);
  });

  test('an empty chain in a workspace with an API key, also after the app has continued', async () => {
    const { open, exec } = makeDatabase();
    const store = await open();
    await addTimed(store, 2);
    await store.apiKeys.put('T1', new Secret('key'), 'U1', T0);
    expect(await store.audit.verify('T1')).toMatchObject({ ok: true, entries: 2 });
    await exec(...TABLES.map((table) => `delete from ${table}`));
    await expectFound(store, { problem: 'head' });
    expect(await store.audit.listWorkspaces()).toContain('T1');
    await addTimed(store, 1);
    await expectFound(store, { problem: 'removed', seq: 1 });
    await store.apiKeys.put('T1', new Secret('another key'), 'U1', T0);
    await expectFound(store);
  });

  test.each(TABLES)('an earlier state of %s alone, also after the app has continued', async (table) => {
    for (const mischief of [1, 3])
      for (const after of [1, 2, 6]) {
        const { open, keep, putBack } = makeDatabase();
        const store = await open();
        await addTimed(store, 3);
        await keep();
        await addTimed(store, mischief);
        await putBack([table]);
        await expectFound(store);
        await addTimed(store, after);
        await expectFound(store);
        await store.close();
      }
  });
});

describe('a head in the log', () => {
  const publish = async (store: Store) => {
    const heads: string[] = [];
    const info = (_: string, { seq, signature }: Record<string, unknown> = {}) => {
      heads.push(`${seq}:${signature}`);
    };
    await createAuditPublisher(makeContext(store, { log: { ...silentLog, info } }))();
    return parseAuditHead(heads[0] ?? '');
  };

  test('reveals that the whole audit was put back to an earlier state, however far it has grown since', async () => {
    const { open, keep, putBack } = makeDatabase();
    const store = await open();
    await addTimed(store, 3);
    await keep();
    await addTimed(store, 2, { label: 'lost' });
    const published = await publish(store);
    expect(await store.audit.verify('T1', published)).toMatchObject({ ok: true });
    await putBack();
    for (const problem of ['removed', 'removed', 'head', 'head']) {
      expect(await store.audit.verify('T1')).toMatchObject({ ok: true });
      expect(await store.audit.verify('T1', published)).toMatchObject({ ok: false, problem });
      await addTimed(store, 1);
    }
  });

  test('still fits a chain that only went on, or was pruned to it or beyond', async () => {
    const { open } = makeDatabase();
    const store = await open();
    await addTimed(store, 3);
    const published = await publish(store);
    await addTimed(store, 1, { at: T0 + 4 });
    for (const most of [0, 2, 3, 4]) {
      await store.audit.prune(T0 + most + 1, T0 + 9);
      expect(await store.audit.verify('T1', published)).toMatchObject({ ok: true });
    }
    expect(parseAuditHead('4')).toBeUndefined();
  });
});

describe('keys of the audit', () => {
  /** A database that has used these keys, with three entries under the first of them. */
  const makeSigned = async (...keys: readonly string[]) => {
    const database = makeDatabase();
    await database.introduce(...keys);
    await database.add(3, 'k1');
    return database;
  };

  test('that are missing are named, payments continue, and everything verifies once they are back', async () => {
    const { open } = await makeSigned('k1', 'k2', 'k3');
    for (const lone of ['k2', 'k3']) {
      const without = await open(vaultOf(lone));
      await addTimed(without, 2);
      await expectFound(without, {
        problem: 'key_missing',
        words: expect.stringContaining('under the key "k'),
      });
      await without.close();
    }
    const back = await open(vaultOf('k3', 'k2', 'k1'));
    expect(await back.audit.verify('T1')).toEqual({ ok: true, entries: 7, from: 1, to: 7 });
    await addTimed(back, 1);
    expect(await back.audit.verify('T1')).toMatchObject({ ok: true, entries: 8 });
  });

  test('that are missing don’t hide entries that are removed in the meantime', async () => {
    const { open, exec, add } = await makeSigned('k1', 'k2');
    await exec('delete from audit where seq = 3');
    await add(2, 'k2');
    const back = await open(vaultOf('k2', 'k1'));
    await expectFound(back, { seq: 3, problem: 'removed' });
  });

  test('that are missing stop pruning, which works again once they are back', async () => {
    const { open } = await makeSigned('k1', 'k2');
    const at = T0 + 1e6;
    const without = await open(vaultOf('k2'));
    await addTimed(without, 2);
    await without.audit.prune(T0 + 3, at);
    expect(await without.audit.list({ workspaceId: 'T1', limit: 1 })).toMatchObject([
      { action: 'audit_prune', outcome: 'failed', code: 'key_missing' },
    ]);
    await without.close();
    const back = await open(vaultOf('k2', 'k1'));
    await back.audit.prune(T0 + 3, at);
    expect(await back.audit.verify('T1')).toMatchObject({ ok: true, from: 3, pruned: { count: 2 } });
    await back.audit.prune(T0 + 1e9, at + 1);
    await back.close();
    const later = await open(vaultOf('k2'));
    expect(await later.audit.verify('T1')).toMatchObject({ ok: true, entries: 2 });
  });
});
