import type { ActMessages } from '../../app/servers/ports.ts';
import type { Foundation } from '../engine/database.ts';

/** The channel's messages about acts, by the ID of the act. */
export function createActMessages({ db }: Foundation): ActMessages {
  return {
    put: async (id, workspaceId, { channelId, ts }, until) => {
      const values = { workspace_id: workspaceId, channel_id: channelId, ts, until };
      await db
        .insertInto('act_messages')
        .values({ id, ...values })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
        .execute();
    },
    find: async (id) => {
      const row = await db
        .selectFrom('act_messages')
        .select(['channel_id', 'ts'])
        .where('id', '=', id)
        .executeTakeFirst();
      return row && { channelId: row.channel_id, ts: row.ts };
    },
    remove: async (id) => {
      await db.deleteFrom('act_messages').where('id', '=', id).execute();
    },
    removeExpired: async (now) => {
      await db.deleteFrom('act_messages').where('until', '<=', now).execute();
    },
  };
}
