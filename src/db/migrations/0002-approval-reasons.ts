import type { Migration } from 'kysely';

/** What belongs to the reason for which an approval was canceled or ended; NULL in older rows. */
export const approvalReasons: Migration = {
  async up({ schema }) {
    await schema.alterTable('approvals').addColumn('reason_details', 'text').execute();
  },
};
