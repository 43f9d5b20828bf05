import type { Kysely, Migration } from 'kysely';

/** Workflow keys, and the runs of our step. */
export const workflows: Migration = {
  up: async (db: Kysely<unknown>) => {
    await createKeys(db);
    await createRuns(db);
  },
};

async function createKeys({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('workflow_keys')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('name_key', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('actions', 'text', (column) => column.notNull())
    .addColumn('pattern', 'text', (column) => column.notNull())
    .addColumn('issued_by', 'text', (column) => column.notNull())
    .addColumn('issued_at', 'bigint', (column) => column.notNull())
    .addColumn('until', 'bigint')
    .addColumn('last_used_at', 'bigint')
    .addUniqueConstraint('workflow_keys_name', ['workspace_id', 'name_key'])
    .execute();
}

async function createRuns({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('workflow_runs')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('execution_id', 'text', (column) => column.notNull())
    .addColumn('action', 'text')
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('key_kind', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('key_name', 'text', (column) => column.notNull())
    .addColumn('channel_id', 'text')
    .addColumn('sealed_token', 'text')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('received_at', 'bigint', (column) => column.notNull())
    .addColumn('admitted_at', 'bigint', (column) => column.notNull())
    .addColumn('pressed_by', 'text')
    .addColumn('card_channel_id', 'text')
    .addColumn('card_ts', 'text')
    .addColumn('outcome', 'text')
    .addColumn('outcome_details', 'text')
    .addColumn('is_told', 'integer', (column) => column.notNull())
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('workflow_runs_execution', ['workspace_id', 'execution_id'])
    .execute();
  await schema.createIndex('workflow_runs_due').on('workflow_runs').columns(['is_told', 'due_at']).execute();
  await schema
    .createIndex('workflow_runs_admitted')
    .on('workflow_runs')
    .columns(['workspace_id', 'key_id', 'admitted_at'])
    .execute();
}
