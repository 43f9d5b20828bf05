import type { Kysely, Migration } from 'kysely';

/** Locks across processes, and which owner has sent a paid request in which attempt. */
export const locks: Migration = {
  up: async ({ schema }: Kysely<unknown>) => {
    await schema
      .createTable('locks')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('until', 'bigint', (column) => column.notNull())
      .execute();
    await schema
      .alterTable('operations')
      .addColumn('sent_by', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
    await schema
      .alterTable('operations')
      .addColumn('attempt', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
