import type { OutcomeThreads } from '../app/authorize/ports.ts';
import type { Foundation } from './engine/database.ts';

/** The threads in which forms were opened, by the ID of the confirmation that they lead to. */
export function createOutcomeThreads({ db }: Foundation): OutcomeThreads {
  return {
    store: async (id, workspaceId, { ts, isOpen }, until) => {
      const values = { workspace_id: workspaceId, thread_ts: ts, is_open: isOpen ? 1 : 0, until };
      await db
        .insertInto('outcome_threads')
        .values({ id, ...values })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
        .execute();
    },
    find: async (id) => {
      const row = await db
        .selectFrom('outcome_threads')
        .select(['thread_ts', 'is_open'])
        .where('id', '=', id)
        .executeTakeFirst();
      return row && { ts: row.thread_ts, isOpen: row.is_open === 1 };
    },
    removeExpired: async (now) => {
      await db.deleteFrom('outcome_threads').where('until', '<=', now).execute();
    },
  };
}
