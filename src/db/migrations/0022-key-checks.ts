import type { Kysely, Migration } from 'kysely';

/** Which keys of `ENCRYPTION_KEYS` have been used here, each with a value that only the same bytes produce. */
export const keyChecks: Migration = {
  up: async ({ schema }: Kysely<unknown>) => {
    await schema
      .createTable('key_checks')
      .addColumn('key_id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();
  },
};
