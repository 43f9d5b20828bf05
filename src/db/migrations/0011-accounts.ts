import type { Kysely, Migration } from 'kysely';

/** Which API keys open one hosting account, and what that is recognized by (docs/design.md 4.3). */
export const accounts: Migration = {
  up: async ({ schema }: Kysely<unknown>) => {
    await schema
      .createTable('account_names')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('account', 'text', (column) => column.notNull())
      .execute();
    await schema.createIndex('account_names_account').on('account_names').column('account').execute();
    await schema
      .createTable('account_servers')
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('proof', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('account_servers_key', ['name', 'proof'])
      .execute();
    await schema.createIndex('account_servers_proof').on('account_servers').column('proof').execute();
    await schema
      .alterTable('api_keys')
      .addColumn('account', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
    await schema.createIndex('api_keys_account').on('api_keys').column('account').execute();
    await schema.createIndex('operations_account').on('operations').columns(['account', 'state']).execute();
  },
};
