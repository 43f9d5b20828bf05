import { type Kysely, sql } from 'kysely';

/** Workspaces with their settings, and their API keys. */
export async function createWorkspaces({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('workspaces')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('settings', 'text', (column) => column.notNull())
    .addColumn('added_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('api_keys')
    .addColumn('workspace_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('set_by', 'text', (column) => column.notNull())
    .addColumn('set_at', 'bigint', (column) => column.notNull())
    .execute();
}

/** Who has which role. */
export async function createGrants({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('grants')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('subject_kind', 'text', (column) => column.notNull())
    .addColumn('subject_id', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('pattern', 'text', (column) => column.notNull())
    .addColumn('pattern_key', 'text', (column) => column.notNull())
    .addColumn('granted_by', 'text', (column) => column.notNull())
    .addColumn('granted_at', 'bigint', (column) => column.notNull())
    .addColumn('until', 'bigint', (column) => column.notNull())
    .addColumn('temporary_role', 'text', (column) => column.notNull())
    .addUniqueConstraint('grants_key', [
      'workspace_id',
      'subject_kind',
      'subject_id',
      'pattern_key',
      'temporary_role',
    ])
    .execute();
  await schema.createIndex('grants_end').on('grants').columns(['temporary_role', 'until']).execute();
}

/** What people asked the owners for. */
export async function createAccessRequests({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('access_requests')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('asker_id', 'text', (column) => column.notNull())
    .addColumn('channel_id', 'text')
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('pattern', 'text', (column) => column.notNull())
    .addColumn('pattern_key', 'text', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('asked_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('decided_by', 'text')
    .addColumn('decided_at', 'bigint')
    .addColumn('until', 'bigint')
    .addColumn('is_told', 'integer', (column) => column.notNull())
    .addColumn('cards', 'text', (column) => column.notNull())
    .execute();
  await createAccessRequestIndexes({ schema });
}

async function createAccessRequestIndexes({ schema }: Pick<Kysely<unknown>, 'schema'>): Promise<void> {
  // Asking twice at the same moment must not make two cards.
  await schema
    .createIndex('access_requests_open')
    .unique()
    .on('access_requests')
    .columns(['workspace_id', 'asker_id', 'role', 'pattern_key'])
    .where(sql<boolean>`state = 'open'`)
    .execute();
  await schema
    .createIndex('access_requests_asker')
    .on('access_requests')
    .columns(['workspace_id', 'asker_id', 'asked_at'])
    .execute();
  await schema
    .createIndex('access_requests_state')
    .on('access_requests')
    .columns(['state', 'workspace_id'])
    .execute();
  await schema
    .createIndex('access_requests_told')
    .on('access_requests')
    .columns(['is_told', 'asked_at'])
    .execute();
}

/** What waits for a second person. */
export async function createApprovals({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('approvals')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('requester_id', 'text', (column) => column.notNull())
    .addColumn('channel_id', 'text')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('deed', 'text', (column) => column.notNull())
    .addColumn('claim', 'text', (column) => column.notNull())
    .addColumn('is_over_budget', 'integer', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('asked_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('changed_at', 'bigint', (column) => column.notNull())
    .addColumn('decided_by', 'text')
    .addColumn('decided_at', 'bigint')
    .addColumn('reason', 'text')
    .addColumn('is_told', 'integer', (column) => column.notNull())
    .addColumn('cards', 'text', (column) => column.notNull())
    .execute();
  // Two people who ask for the same thing get one card.
  await schema
    .createIndex('approvals_claim')
    .unique()
    .on('approvals')
    .columns(['workspace_id', 'claim'])
    .where(sql<boolean>`claim <> ''`)
    .execute();
  await schema.createIndex('approvals_told').on('approvals').columns(['is_told', 'changed_at']).execute();
  await schema.createIndex('approvals_state').on('approvals').columns(['state', 'workspace_id']).execute();
}
