import type { ChannelId, UserId, WorkspaceId } from '../core/ids.ts';
import type { Foundation } from '../db/database.ts';

export interface OpenedHome {
  /** The user's conversation with the app. */
  readonly channelId: ChannelId;
  /** Page of servers, from 0. */
  readonly page: number;
  /** Epoch milliseconds. */
  readonly openedAt: number;
}

export type Homes = ReturnType<typeof createHomes>;

/** Stores who has opened Home, and when: for the welcome, and so that any process can refresh it in the minutes after. */
export function createHomes({ db }: Foundation) {
  return {
    find: async (workspaceId: WorkspaceId, userId: UserId): Promise<OpenedHome | undefined> => {
      const row = await db
        .selectFrom('homes')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('user_id', '=', userId)
        .executeTakeFirst();
      return row && { channelId: row.channel_id, page: row.page, openedAt: row.opened_at };
    },
    /** Replaces what was stored for the user. */
    put: async (workspaceId: WorkspaceId, userId: UserId, opened: OpenedHome): Promise<void> => {
      const values = { channel_id: opened.channelId, page: opened.page, opened_at: opened.openedAt };
      await db
        .insertInto('homes')
        .values({ workspace_id: workspaceId, user_id: userId, ...values })
        .onConflict((conflict) => conflict.columns(['workspace_id', 'user_id']).doUpdateSet(values))
        .execute();
    },
  };
}
