import type { Homes } from '../../app/home/ports.ts';
import type { Foundation } from '../engine/database.ts';

/** Who has opened the app's Home. */
export function createHomes({ db }: Foundation): Homes {
  return {
    find: async (workspaceId, userId) => {
      const row = await db
        .selectFrom('homes')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('user_id', '=', userId)
        .executeTakeFirst();
      return row && { channelId: row.channel_id, page: row.page, openedAt: row.opened_at };
    },
    put: async (workspaceId, userId, { channelId, page, openedAt }) => {
      const values = { channel_id: channelId, page, opened_at: openedAt };
      await db
        .insertInto('homes')
        .values({ workspace_id: workspaceId, user_id: userId, ...values })
        .onConflict((conflict) => conflict.columns(['workspace_id', 'user_id']).doUpdateSet(values))
        .execute();
    },
  };
}
