import type { Kysely, Migration } from 'kysely';

/** The servers that owners protect from being stopped, rebooted and deleted. */
export const protectedServers: Migration = {
  up: async ({ schema }: Kysely<unknown>) => {
    await schema
      .createTable('protected_servers')
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('server_id', 'bigint', (column) => column.notNull())
      .addColumn('protected_by', 'text', (column) => column.notNull())
      .addColumn('protected_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('protected_servers_key', ['workspace_id', 'server_id'])
      .execute();
  },
};
