import type { Kysely, Migration } from 'kysely';

type Schema = Kysely<unknown>['schema'];

/** Digests that were posted, the servers that they saw, what users decided about reminders, and renewals of several servers. */
export const reminders: Migration = {
  up: async ({ schema }: Kysely<unknown>) => {
    await createDigests(schema);
    await createMarks(schema);
    await createBatches(schema);
  },
};

async function createDigests(schema: Schema): Promise<void> {
  await schema
    .createTable('digests')
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('channel_id', 'text')
    .addColumn('ts', 'text')
    .addColumn('content', 'text', (column) => column.notNull())
    .addColumn('sights', 'text', (column) => column.notNull())
    .addColumn('seen_seq', 'bigint', (column) => column.notNull())
    .addColumn('shown', 'text', (column) => column.notNull())
    .addColumn('read_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('digests_key', ['workspace_id', 'day'])
    .execute();
  await schema.createIndex('digests_live').on('digests').column('state').execute();
  await schema
    .createTable('digest_snapshots')
    .addColumn('workspace_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('servers', 'text', (column) => column.notNull())
    .execute();
}

async function createMarks(schema: Schema): Promise<void> {
  await schema
    .createTable('reminder_marks')
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('server_id', 'bigint', (column) => column.notNull())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('paid_until', 'bigint', (column) => column.notNull())
    .addColumn('marked_by', 'text', (column) => column.notNull())
    .addColumn('marked_at', 'bigint', (column) => column.notNull())
    .addColumn('until_day', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('reminder_marks_key', ['workspace_id', 'server_id'])
    .execute();
}

async function createBatches(schema: Schema): Promise<void> {
  await schema
    .createTable('renewal_batches')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('actor_id', 'text', (column) => column.notNull())
    .addColumn('channel_id', 'text')
    .addColumn('renewals', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('started', 'integer', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('renewal_batches_state').on('renewal_batches').column('state').execute();
}
