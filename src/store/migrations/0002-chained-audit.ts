import type { Kysely, Migration } from 'kysely';

/**
 * Chains the audit (decision 6). The table is made anew and what it held is dropped: entries that were never signed
 * could be anybody's, and no version was released that wrote such.
 */
export const chainedAudit: Migration = {
  up: async ({ schema }: Kysely<unknown>) => {
    await schema.dropTable('audit').execute();
    await schema
      .createTable('audit')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('seq', 'bigint', (column) => column.notNull())
      .addColumn('previous', 'text', (column) => column.notNull())
      .addColumn('signature', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
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
      await schema
        .createIndex(`audit_${column}`)
        .on('audit')
        .columns(['workspace_id', column, 'id'])
        .execute();
    }
    await schema.createIndex('audit_newest').on('audit').columns(['workspace_id', 'id']).execute();
    // Not unique: an audit that somebody has altered must not hold up the payment that is to be written down.
    await schema.createIndex('audit_chain').on('audit').columns(['workspace_id', 'seq', 'id']).execute();
    await schema
      .createTable('audit_chains')
      .addColumn('workspace_id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('ends', 'text', (column) => column.notNull())
      .addColumn('signature', 'text', (column) => column.notNull())
      .execute();
  },
};
