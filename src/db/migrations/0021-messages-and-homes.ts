import type { Kysely, Migration } from 'kysely';

/** Commands in messages, until they are answered; and when what each Home shows was read. */
export const messagesAndHomes: Migration = {
  up: async ({ schema }: Kysely<unknown>) => {
    await schema
      .createTable('message_commands')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('home_team_id', 'text')
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('channel_id', 'text', (column) => column.notNull())
      .addColumn('thread_ts', 'text')
      .addColumn('is_thread_open', 'integer', (column) => column.notNull())
      .addColumn('name', 'text')
      .addColumn('received_at', 'bigint', (column) => column.notNull())
      .addColumn('has_begun', 'integer', (column) => column.notNull())
      .addColumn('servers', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('due_at', 'bigint', (column) => column.notNull())
      .execute();
    await schema.createIndex('message_commands_due').on('message_commands').column('due_at').execute();
    await schema
      .alterTable('homes')
      .addColumn('shown', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
  },
};
