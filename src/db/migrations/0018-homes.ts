import type { Kysely, Migration } from 'kysely';

/** Who has opened the app's Home, and when last. */
export const homes: Migration = {
  up: async ({ schema }: Kysely<unknown>) => {
    await schema
      .createTable('homes')
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('channel_id', 'text', (column) => column.notNull())
      .addColumn('page', 'integer', (column) => column.notNull())
      .addColumn('opened_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('homes_key', ['workspace_id', 'user_id'])
      .execute();
  },
};
