import type { SeenRequests } from '../app/authorize/ports.ts';
import type { Foundation, Queries } from './engine/database.ts';

/** Requests that changed something: the second one with the same ID is a replay. */
export function createSeenRequests({ db }: Foundation): SeenRequests {
  return {
    addFirst: (requestId, at) => addSeenRequest(db, requestId, at),
    removeBefore: async (at) => {
      await db.deleteFrom('seen_requests').where('seen_at', '<', at).execute();
    },
  };
}

/** True the first time that this ID is added, false after that. */
export async function addSeenRequest(db: Queries, requestId: string, at: number): Promise<boolean> {
  const added = await db
    .insertInto('seen_requests')
    .values({ id: requestId, seen_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return added !== undefined;
}
