import { type Kysely, type Migration, sql } from 'kysely';

/** What the money protocol compares and stores besides (docs/design.md 4). */
export const moneyProtocol: Migration = {
  up: async (db: Kysely<unknown>) => {
    await createVersions(db);
    await extendOperations(db);
    await sql`alter table approvals add column key_generation integer not null default 0`.execute(db);
    for (const [table, confirmedAt] of [
      ['operations', 'created_at'],
      ['approvals', 'asked_at'],
    ] as const) {
      // A key that is older than a confirmation is the one that it was confirmed under.
      await sql`update ${sql.table(table)} set key_generation = 1 where exists (
        select 1 from api_keys where api_keys.workspace_id = ${sql.ref(`${table}.workspace_id`)}
        and api_keys.set_at < ${sql.ref(`${table}.${confirmedAt}`)})`.execute(db);
    }
    // These were ended by time alone, which proves nothing: they are looked for again.
    await sql`update operations set due_at = ended_at
      where state = 'refused' and reason in ('not_done', 'decided_not_done')`.execute(db);
    await sql`update operations set due_at = sent_at where state = 'in_doubt' and due_at is null`.execute(db);
  },
};

/** Counts of changes: of two counts that are equal, nothing has changed in between, whatever the clocks say. */
async function createVersions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('workspace_versions')
    .addColumn('workspace_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('key_generation', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('access_version', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('settings_version', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await sql`insert into workspace_versions (workspace_id, key_generation)
    select workspace_id, 1 from api_keys`.execute(db);
}

async function extendOperations({ schema }: Kysely<unknown>): Promise<void> {
  const operations = () => schema.alterTable('operations');
  for (const column of ['key_generation', 'is_late', 'looked_ms', 'send_by'] as const) {
    await operations()
      .addColumn(column, 'bigint', (added) => added.notNull().defaultTo(0))
      .execute();
  }
  await operations()
    .addColumn('account', 'text', (added) => added.notNull().defaultTo(''))
    .execute();
  await operations().addColumn('decided_by', 'text').execute();
  await operations().addColumn('sealed_answer', 'text').execute();
}
