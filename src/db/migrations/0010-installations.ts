import { type Kysely, type Migration, sql } from 'kysely';

/** Where the app is installed by OAuth, which workspaces each installation serves, and the installs that are under way. */
export const installations: Migration = {
  up: async (db: Kysely<unknown>) => {
    await db.schema
      .createTable('installations')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('is_org', 'integer', (column) => column.notNull())
      .addColumn('enterprise_id', 'text')
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('generation', 'integer', (column) => column.notNull())
      .addColumn('installed_by', 'text', (column) => column.notNull())
      .addColumn('installed_at', 'bigint', (column) => column.notNull())
      .addColumn('scopes', 'text', (column) => column.notNull())
      .addColumn('sealed', 'text')
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('is_refresh_refused', 'integer', (column) => column.notNull())
      .addColumn('is_token_refused', 'integer', (column) => column.notNull())
      .addColumn('revoked_at', 'bigint', (column) => column.notNull())
      .execute();
    await sql`create index installations_revoked on installations (revoked_at) where revoked_at > 0`.execute(
      db,
    );
    await db.schema
      .createTable('installation_workspaces')
      .addColumn('workspace_id', 'text', (column) => column.primaryKey())
      .addColumn('installation_id', 'text', (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('installation_workspaces_of')
      .on('installation_workspaces')
      .column('installation_id')
      .execute();
    await db.schema
      .createTable('install_states')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
  },
};
