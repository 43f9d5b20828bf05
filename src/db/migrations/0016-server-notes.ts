import type { Kysely, Migration } from 'kysely';

/** What a team notes about its servers. */
export const serverNotes: Migration = {
  up: async ({ schema }: Kysely<unknown>) => {
    await schema
      .createTable('server_notes')
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('server_id', 'bigint', (column) => column.notNull())
      .addColumn('label', 'text', (column) => column.notNull())
      .addColumn('note', 'text', (column) => column.notNull())
      .addColumn('contact', 'text')
      .addColumn('noted_by', 'text', (column) => column.notNull())
      .addColumn('noted_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('server_notes_key', ['workspace_id', 'server_id'])
      .execute();
  },
};
