import type { Kysely, Migration } from 'kysely';

/**
 * What is known about each refresh token's past, and which uninstalls can't be proved. Of tokens that are stored already
 * nothing is known: what older versions of the app sent, they didn't write down.
 */
export const refreshHistory: Migration = {
  up: async ({ schema }: Kysely<unknown>) => {
    const change = () => schema.alterTable('installations');
    await change().addColumn('unspent_expires_at', 'bigint').execute();
    for (const name of ['unproven_revoked_at', 'revocation_checked_at'])
      await change()
        .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0))
        .execute();
  },
};
