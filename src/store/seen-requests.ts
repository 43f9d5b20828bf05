import type { SeenRequests } from '../app/authorize/ports.ts';
import type { Foundation } from './engine/database.ts';

/** Requests that changed something: the second one with the same ID is a replay. */
export function createSeenRequests({ db }: Foundation): SeenRequests {
  return {
    addFirst: async (requestId, at) => {
      const added = await db
        .insertInto('seen_requests')
        .values({ id: requestId, seen_at: at })
        .onConflict((conflict) => conflict.doNothing())
        .returning('id')
        .executeTakeFirst();
      return added !== undefined;
    },
    removeBefore: async (at) => {
      await db.deleteFrom('seen_requests').where('seen_at', '<', at).execute();
    },
  };
}
