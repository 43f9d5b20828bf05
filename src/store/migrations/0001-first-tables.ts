import { type Kysely, type Migration, sql } from 'kysely';

/** Everything that the first release keeps. */
export const firstTables: Migration = {
  up: async (db: Kysely<unknown>) => {
    await createAccess(db);
    await createOperations(db);
    await createPasswords(db);
    await createAudit(db);
    await createShortLived(db);
  },
};

async function createAccess({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('workspaces')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('announces', 'integer', (column) => column.notNull())
    .addColumn('added_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('api_keys')
    .addColumn('workspace_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('set_by', 'text', (column) => column.notNull())
    .addColumn('set_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('grants')
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('subject_kind', 'text', (column) => column.notNull())
    .addColumn('subject_id', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('granted_by', 'text', (column) => column.notNull())
    .addColumn('granted_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('grants_key', ['workspace_id', 'subject_kind', 'subject_id'])
    .execute();
}

async function createOperations({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('operations')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('actor_id', 'text', (column) => column.notNull())
    .addColumn('channel_id', 'text')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('purchase', 'text', (column) => column.notNull())
    .addColumn('claim', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('price', 'bigint')
    .addColumn('known_ids', 'text', (column) => column.notNull())
    .addColumn('server_id', 'bigint')
    .addColumn('paid_until', 'bigint')
    .addColumn('reason', 'text')
    .addColumn('reason_details', 'text')
    .addColumn('has_password', 'integer', (column) => column.notNull())
    .addColumn('needs_person', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('sent_at', 'bigint')
    .addColumn('ended_at', 'bigint')
    .addColumn('told_at', 'bigint', (column) => column.notNull())
    .addColumn('due_at', 'bigint')
    .addColumn('lease_owner', 'text', (column) => column.notNull())
    .addColumn('lease_until', 'bigint', (column) => column.notNull())
    .addCheckConstraint(
      'operations_state',
      sql`state in ('prepared', 'sent', 'settled', 'refused', 'in_doubt')`,
    )
    .execute();
  // Two confirmations must not both pay for the same month, whatever the code does (DESIGN 4.1).
  await schema
    .createIndex('operations_claim')
    .unique()
    .on('operations')
    .columns(['workspace_id', 'claim'])
    .where(sql<boolean>`claim <> ''`)
    .execute();
  await schema.createIndex('operations_due').on('operations').columns(['due_at', 'id']).execute();
  await schema
    .createIndex('operations_server')
    .on('operations')
    .columns(['workspace_id', 'server_id', 'created_at'])
    .execute();
  await schema.createIndex('operations_state').on('operations').columns(['state', 'workspace_id']).execute();
}

async function createPasswords({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('passwords')
    .addColumn('operation_id', 'text', (column) => column.primaryKey().notNull().references('operations.id'))
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('creator_id', 'text', (column) => column.notNull())
    .addColumn('server_id', 'bigint', (column) => column.notNull())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('settled_at', 'bigint', (column) => column.notNull())
    .addColumn('held_until', 'bigint')
    .execute();
  await schema.createIndex('passwords_workspace').on('passwords').column('workspace_id').execute();
}

async function createAudit({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('audit')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('actor_id', 'text', (column) => column.notNull())
    .addColumn('channel_id', 'text')
    .addColumn('surface', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('act_id', 'text', (column) => column.notNull())
    .addColumn('server_id', 'bigint')
    .addColumn('label', 'text')
    .addColumn('label_key', 'text', (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('code', 'text')
    .addColumn('operation_id', 'text')
    .addColumn('money', 'bigint')
    .execute();
  for (const column of ['actor_id', 'server_id', 'label_key']) {
    await schema.createIndex(`audit_${column}`).on('audit').columns(['workspace_id', column, 'id']).execute();
  }
  await schema.createIndex('audit_newest').on('audit').columns(['workspace_id', 'id']).execute();
}

async function createShortLived({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('connect_links')
    .addColumn('token_hash', 'text', (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('channel_id', 'text')
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('is_taken', 'integer', (column) => column.notNull())
    .addColumn('tries', 'integer', (column) => column.notNull())
    .execute();
  await schema
    .createTable('seen_requests')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('seen_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('seen_requests_age').on('seen_requests').column('seen_at').execute();
  await schema
    .createTable('reply_urls')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('uses_left', 'integer', (column) => column.notNull())
    .addColumn('until', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('reply_urls_age').on('reply_urls').column('until').execute();
  await schema
    .createTable('api_calls')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('api_calls_account').on('api_calls').columns(['account', 'at']).execute();
  await schema.createIndex('api_calls_age').on('api_calls').column('at').execute();
}
