import { type Kysely, type Migration, sql } from 'kysely';

/** Why a request was denied, what of it was granted, and what its requester wanted to do; canceled approvals are called that. */
export const accessAndApprovals: Migration = {
  up: async (db: Kysely<unknown>) => {
    await db.schema.alterTable('approvals').addColumn('denial_reason', 'text').execute();
    for (const column of ['denial_reason', 'granted_role', 'granted_pattern', 'command'])
      await db.schema.alterTable('access_requests').addColumn(column, 'text').execute();
    await sql`update approvals set state = 'canceled' where state = 'void'`.execute(db);
  },
};
