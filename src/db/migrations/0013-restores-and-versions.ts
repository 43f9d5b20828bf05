import type { Kysely, Migration } from 'kysely';

/** What a database is called in notes beside it, when it was put back to an earlier state, and which migrations an older version of the app can live with. */
export const restoresAndVersions: Migration = {
  up: async ({ schema }: Kysely<unknown>) => {
    await schema
      .createTable('identities')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .execute();
    await schema
      .createTable('restores')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('order_id', 'text', (column) => column.notNull())
      .execute();
    await schema
      .createTable('migration_needs')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('needs', 'text', (column) => column.notNull())
      .execute();
  },
};
