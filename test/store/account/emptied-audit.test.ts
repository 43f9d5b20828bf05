import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAuditPublisher, parseAuditHead } from '../../../src/account/audit.ts';
import type { Store } from '../../../src/context.ts';
import { Secret } from '../../../src/core/secret.ts';
import { silentLog } from '../../../src/log.ts';
import { triesOf } from '../../attacks/support/tries.ts';
import { entry, markSent, newCreate, T0 } from '../support.ts';
import { makeDatabase } from './audit-support.ts';

const TABLES = ['audit', 'audit_chains', 'audit_heads'] as const;
const runs = { numRuns: triesOf({ short: 15, long: 300 }) };

async function addEntries(store: Store, entries: number): Promise<void> {
  for (let one = 0; one < entries; one++) await store.audit.add(entry({ label: String(one) }));
}

/** An audit with some entries and a settled order, in a file that others can write. */
async function startAudited(entries: number) {
  const database = makeDatabase();
  const store = await database.open();
  await addEntries(store, entries);
  const operation = newCreate();
  await store.ledger.prepare(operation);
  await markSent(store.ledger, operation.id, T0);
  await store.ledger.settle(operation.id, { at: T0, serverId: 7 }, entry({ operationId: operation.id }));
  const exec = (...statements: string[]) => database.bySql((db) => db.exec(statements.join(';')));
  return {
    store,
    exec,
    keep: () => exec(...TABLES.map((table) => `create table kept_${table} as select * from ${table}`)),
    putBack: (tables: readonly string[]) =>
      exec(
        ...tables.flatMap((table) => [
          `delete from ${table}`,
          `insert into ${table} select * from kept_${table}`,
        ]),
      ),
    publish: async () => {
      const heads: string[] = [];
      const info = (_: string, { seq, signature }: Record<string, unknown> = {}) => {
        heads.push(`${seq}:${signature}`);
      };
      await createAuditPublisher({ audit: store.audit, log: { ...silentLog, info } })();
      return parseAuditHead(heads[0] ?? '');
    },
  };
}

const expectFound = async (store: Store) => {
  expect(await store.audit.verify('T1')).toMatchObject({
    ok: false,
    words: expect.stringMatching(/^[A-Z].+\.$/),
  });
};

describe('an audit', () => {
  test('that was emptied is found, also after the app has gone on', async () => {
    const someTables = fc
      .subarray([...TABLES], { minLength: 2 })
      .filter((tables) => tables.includes('audit'));
    await fc.assert(
      fc.asyncProperty(someTables, fc.nat(4), fc.nat(6), async (tables, before, after) => {
        const { store, exec } = await startAudited(before);
        exec(...tables.map((table) => `delete from ${table}`));
        await expectFound(store);
        expect(await store.audit.listWorkspaces()).toContain('T1');
        await addEntries(store, after);
        await expectFound(store);
        await store.close();
      }),
      runs,
    );
  });

  test('that was emptied before the first order is detected by the API key, even after the app has continued', async () => {
    const database = makeDatabase();
    const store = await database.open();
    await addEntries(store, 2);
    await store.apiKeys.put('T1', new Secret('key'), 'U1', T0);
    expect(await store.audit.verify('T1')).toMatchObject({ ok: true, entries: 2 });
    database.bySql((db) => db.exec(TABLES.map((table) => `delete from ${table}`).join(';')));
    await expectFound(store);
    expect(await store.audit.listWorkspaces()).toContain('T1');
    await addEntries(store, 1);
    await expectFound(store);
    await store.apiKeys.put('T1', new Secret('another key'), 'U1', T0);
    await expectFound(store);
  });

  test('that was put back to an earlier state is found, also after the app has gone on', async () => {
    const someTables = fc.constantFrom(
      ['audit', 'audit_chains'],
      ['audit_chains'],
      ['audit_heads'],
      ['audit', 'audit_heads'],
    );
    await fc.assert(
      fc.asyncProperty(
        someTables,
        fc.integer({ min: 1, max: 4 }),
        fc.nat(6),
        async (tables, mischief, after) => {
          const { store, keep, putBack } = await startAudited(2);
          keep();
          await addEntries(store, mischief);
          putBack(tables);
          await expectFound(store);
          await addEntries(store, after);
          await expectFound(store);
          await store.close();
        },
      ),
      runs,
    );
  });

  test('that was put back in all of its tables is found by a head in the log', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.nat(6), async (mischief, after) => {
        const { store, keep, putBack, publish } = await startAudited(2);
        keep();
        await addEntries(store, mischief);
        const published = await publish();
        expect(await store.audit.verify('T1', published)).toMatchObject({ ok: true });
        putBack(TABLES);
        await addEntries(store, after);
        expect(await store.audit.verify('T1', published)).toMatchObject({ ok: false });
        await store.close();
      }),
      runs,
    );
  });

  test('that only went on, or was pruned, still fits a head in the log', async () => {
    const { store, publish } = await startAudited(3);
    const published = await publish();
    await addEntries(store, 2);
    expect(await store.audit.verify('T1', published)).toMatchObject({ ok: true });
    await store.audit.prune(T0 + 1, { at: T0 + 1, actorId: 'app', surface: 'background' });
    expect(await store.audit.verify('T1', published)).toMatchObject({ ok: true });
    expect(parseAuditHead('4')).toBeUndefined();
  });
});
