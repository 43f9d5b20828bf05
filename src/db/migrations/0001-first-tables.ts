import type { Kysely, Migration } from 'kysely';
import {
  createAccessRequests,
  createApprovals,
  createGrants,
  createWorkspaces,
} from './0001-access-tables.ts';
import { createOperations, createPasswords } from './0001-money-tables.ts';

/** Everything that the first release keeps. */
export const firstTables: Migration = {
  up: async (db: Kysely<unknown>) => {
    await createWorkspaces(db);
    await createGrants(db);
    await createAccessRequests(db);
    await createApprovals(db);
    await createOperations(db);
    await createPasswords(db);
    await createAudit(db);
    await createShortLived(db);
  },
};

async function createAudit({ schema }: Kysely<unknown>): Promise<void> {
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
    await schema.createIndex(`audit_${column}`).on('audit').columns(['workspace_id', column, 'id']).execute();
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
