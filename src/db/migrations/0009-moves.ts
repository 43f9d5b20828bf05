import type { Kysely, Migration } from 'kysely';

/** Where the data was moved to, or came from: a database that was left must not be used again. */
export const moves: Migration = {
  up: async ({ schema }: Kysely<unknown>) => {
    await schema
      .createTable('moves')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('place', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .execute();
  },
};
