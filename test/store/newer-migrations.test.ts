import { Kysely } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../src/app/ports.ts';
import { Secret } from '../../src/domain/secret.ts';
import { openEngine } from '../../src/store/engine/database.ts';
import { DatabaseUnusable } from '../../src/store/engine/errors.ts';
import { migrate } from '../../src/store/engine/migrate.ts';
import type { StoreMigration } from '../../src/store/engine/store-migration.ts';
import type { Tables } from '../../src/store/engine/tables.ts';
import { createMigrations } from '../../src/store/migrations/index.ts';
import { moveStore } from '../../src/store/move-store.ts';
import { realSystem } from '../../src/system.ts';
import { createEmptyDatabase, postgresUrl } from '../support/postgres.ts';
import { type Place, places } from './places.ts';
import { confirm, entry, newApproval, newCreate, newGrant, sentBy, T0, vault } from './support.ts';

const SINCE = '0013-restores-and-versions';
const nothing = async (): Promise<void> => undefined;
const TABLES = [
  ...['workspaces', 'workspace_versions', 'api_keys', 'grants', 'access_requests', 'approvals', 'operations'],
  ...[
    'passwords',
    'audit',
    'audit_chains',
    'audit_heads',
    'reply_urls',
    'locks',
    'installations',
    'restores',
  ],
] as const;

/** What a newer version may do to the schema without asking: columns that may be missing, and tables of its own. */
const additive = (needs: string): StoreMigration => ({
  needs,
  up: async ({ schema }: Kysely<unknown>) => {
    for (const table of TABLES) {
      await schema.alterTable(table).addColumn('note', 'text').execute();
      const counted = schema
        .alterTable(table)
        .addColumn('priority', 'integer', (column) => column.notNull().defaultTo(7));
      await counted.execute();
    }
    await schema.createTable('reminders').addColumn('id', 'text').execute();
  },
});

/** Does to the schema what the first start of a newer version does. */
async function upgrade({ url }: Place, newer: Readonly<Record<string, StoreMigration>>): Promise<void> {
  const engine = await openEngine(url, { lock: false, system: realSystem });
  const db = new Kysely<Tables>({ dialect: engine.migrationDialect ?? engine.dialect });
  try {
    await migrate(db, { ...createMigrations(vault), ...newer }, engine.schema);
  } finally {
    await db.destroy();
    await engine.close();
  }
}

/** Confirms, sends and settles an order, and does a bit of everything else. */
async function work(store: Store): Promise<void> {
  await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
  await store.apiKeys.put('T1', new Secret('the key'), 'U1', T0);
  await store.grants.put(newGrant({ role: 'manager' }));
  await store.approvals.request(newApproval(), entry());
  const operation = newCreate();
  await confirm(store.ledger, operation);
  const versions = await store.ledger.readVersions('T1');
  expect(await store.ledger.leaseDue({ owner: 'a', now: T0, until: T0 + 9 })).toMatchObject({
    id: operation.id,
  });
  expect(await store.ledger.markSent(operation.id, sentBy('a', T0, { versions }))).toBe('sent');
  const settled = { at: T0, serverId: 7, password: new Secret('the password') };
  await store.ledger.settle(operation.id, settled, entry({ operationId: operation.id }));
  expect((await store.passwords.find(operation.id))?.password.reveal()).toBe('the password');
  expect((await store.apiKeys.find('T1'))?.key.reveal()).toBe('the key');
  expect(await store.audit.verify('T1')).toMatchObject({ ok: true, entries: 2 });
}

describe.each(places)('beside a newer version, on $name,', ({ make }) => {
  let place: Place;
  beforeEach(async () => {
    place = await make();
    await (await place.open()).close();
  });

  test('this one goes on while columns and tables are added that it does not know', async () => {
    const store = await place.open();
    await upgrade(place, { '9998-additive': additive(SINCE) });
    await work(store);
    expect(await place.sql('select distinct priority from operations')).toEqual([{ priority: 7 }]);
  });

  test('this one starts, says so, and leaves the schema as it is', async () => {
    await upgrade(place, {
      '9998-additive': additive(SINCE),
      '9999-more': { needs: SINCE, up: nothing },
    });
    const store = await place.open();
    expect(store.notes).toEqual([expect.stringMatching(/newer version of the app .+9999-more.+ left alone/)]);
    await work(store);
    await store.close();
    const tool = await place.open({ lock: false });
    expect(await tool.workspaces.find('T1')).toMatchObject({ name: 'Acme' });
    const executed = await place.sql("select name from kysely_migration where name like '99%' order by name");
    expect(executed).toEqual([{ name: '9998-additive' }, { name: '9999-more' }]);
  });

  test('the newer one starts again afterwards', async () => {
    const newer = { '9998-additive': additive(SINCE) };
    await upgrade(place, newer);
    await work(await place.open());
    await upgrade(place, { ...newer, '9999-more': { needs: SINCE, up: nothing } });
    expect(await place.sql("select name from migration_needs where name > '9' order by name")).toEqual([
      { name: '9998-additive' },
      { name: '9999-more' },
    ]);
  });

  test.each([
    ['says nothing of older versions', { up: nothing }],
    ['needs a version between the two', { needs: '9997-not-here', up: nothing }],
  ])('this one is refused when a migration %s', async (_words, migration) => {
    await upgrade(place, { '9998-additive': additive(SINCE), '9999-breaking': migration });
    for (const lock of [true, false]) {
      await expect(place.open({ lock })).rejects.toThrow(DatabaseUnusable);
      await expect(place.open({ lock })).rejects.toThrow(
        /^The database was changed by a newer version of the app \(it has "9999-breaking"\).+\. Start that version\.$/,
      );
    }
  });

  test('this one is refused when its own last migration was never run there', async () => {
    await upgrade(place, { '9998-additive': additive('0010-installations') });
    await place.sql(`delete from kysely_migration where name = '0010-installations'`);
    await expect(place.open()).rejects.toThrow(/newer version of the app \(it has "9998-additive"\)/);
  });

  test('what is noted of a migration goes with it when it fails', async () => {
    const broken = {
      needs: SINCE,
      up: async () => {
        throw new Error('the power went');
      },
    };
    await expect(upgrade(place, { '9998-additive': additive(SINCE), '9999-broken': broken })).rejects.toThrow(
      'power',
    );
    expect(await place.sql("select name from migration_needs where name > '9'")).toEqual([]);
    expect((await place.open()).notes).toEqual([]);
  });
});

test.skipIf(!postgresUrl)('a store that a newer version has used is not copied by this one', async () => {
  const place = await places[0]?.make();
  if (!place) throw new Error('there is no SQLite');
  await (await place.open()).close();
  await upgrade(place, { '9998-additive': additive(SINCE) });
  const to = await createEmptyDatabase();
  const move = { from: place.url, to, vault, system: realSystem, report: () => undefined };
  await expect(moveStore(move)).rejects.toThrow(/has "9998-additive"\)\. Copy it with that version\.$/);
  await place.open();
});
