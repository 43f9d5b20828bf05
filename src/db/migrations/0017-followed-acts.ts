import type { Kysely, Migration } from 'kysely';

/** What was done to servers and is followed until they have settled, and where the channel was told of it. */
export const followedActs: Migration = {
  up: async (db: Kysely<unknown>) => {
    await createActMessages(db);
    await createFollowedActs(db);
    await createFollowedServers(db);
  },
};

async function createActMessages({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('act_messages')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('channel_id', 'text', (column) => column.notNull())
    .addColumn('ts', 'text', (column) => column.notNull())
    .addColumn('until', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('act_messages_age').on('act_messages').column('until').execute();
}

async function createFollowedActs({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('followed_acts')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('actor_id', 'text', (column) => column.notNull())
    .addColumn('channel_id', 'text')
    .addColumn('thread_ts', 'text')
    .addColumn('is_thread_open', 'integer', (column) => column.notNull())
    .addColumn('key_generation', 'bigint', (column) => column.notNull())
    .addColumn('since', 'bigint', (column) => column.notNull())
    .addColumn('looked_at', 'bigint', (column) => column.notNull())
    .addColumn('passed_ms', 'bigint', (column) => column.notNull())
    .addColumn('is_measured', 'integer', (column) => column.notNull())
    .addColumn('told', 'text', (column) => column.notNull())
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('lease_owner', 'text', (column) => column.notNull())
    .addColumn('lease_until', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('followed_acts_due').on('followed_acts').column('due_at').execute();
}

async function createFollowedServers({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('followed_servers')
    .addColumn('act_id', 'text', (column) => column.notNull())
    .addColumn('server_id', 'bigint', (column) => column.notNull())
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('place', 'integer', (column) => column.notNull())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('standing', 'text', (column) => column.notNull())
    .addColumn('state', 'text')
    .addColumn('ipv4', 'text')
    .addColumn('paid_until', 'bigint')
    .addColumn('has_changed', 'integer', (column) => column.notNull())
    .addColumn('settled_ms', 'bigint')
    .addColumn('superseded_by', 'text')
    .addColumn('superseded_action', 'text')
    .addPrimaryKeyConstraint('followed_servers_key', ['act_id', 'server_id'])
    .execute();
  await schema
    .createIndex('followed_servers_by_server')
    .on('followed_servers')
    .columns(['workspace_id', 'server_id'])
    .execute();
}
