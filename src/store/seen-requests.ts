import type { SeenRequests } from '../app/authorize/ports.ts';
import type { Foundation } from './engine/database.ts';

/** Requests that changed something: the second one with the same ID is a replay. */
export function createSeenRequests({ db }: Foundation): SeenRequests {
  const addAll = async (ids: readonly string[], seen_at: number): Promise<boolean> => {
    const added = await db
      .insertInto('seen_requests')
      .values(ids.map((id) => ({ id, seen_at })))
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .execute();
    return added.length === ids.length;
  };
  return {
    addFirst: (requestId, at) => addAll([requestId], at),
    addAll,
    removeBefore: async (at) => {
      await db.deleteFrom('seen_requests').where('seen_at', '<', at).execute();
    },
  };
}
