import type { Kysely, Migration } from 'kysely';

/** The threads in which orders and requests were made: what comes of them is told there. */
export const outcomeThreads: Migration = {
  up: async ({ schema }: Kysely<unknown>) => {
    await schema
      .createTable('outcome_threads')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('thread_ts', 'text', (column) => column.notNull())
      .addColumn('is_open', 'integer', (column) => column.notNull())
      .addColumn('until', 'bigint', (column) => column.notNull())
      .execute();
    await schema.createIndex('outcome_threads_age').on('outcome_threads').column('until').execute();
  },
};
