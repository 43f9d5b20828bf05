import { type Kysely, sql } from 'kysely';

/** The ledger of paid operations. */
export async function createOperations({ schema }: Kysely<unknown>): Promise<void> {
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
  await createOperationIndexes({ schema });
}

async function createOperationIndexes({ schema }: Pick<Kysely<unknown>, 'schema'>): Promise<void> {
  // Two confirmations must not both pay for the same month, whatever the code does (docs/design.md 4.1).
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
  await schema
    .createIndex('operations_spent')
    .on('operations')
    .columns(['workspace_id', 'created_at'])
    .execute();
  await schema.createIndex('operations_state').on('operations').columns(['state', 'workspace_id']).execute();
}

/** Root passwords that wait to be saved. */
export async function createPasswords({ schema }: Kysely<unknown>): Promise<void> {
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
