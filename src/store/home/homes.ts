import type { Homes } from '../../app/home/homes-port.ts';
import type { UserId, WorkspaceId } from '../../domain/ids.ts';
import type { Foundation, Queries } from '../engine/database.ts';

/** Who has opened the app's Home. */
export function createHomes({ db }: Foundation): Homes {
  return {
    find: async (workspaceId, userId) => {
      const row = await findRow(db, workspaceId, userId);
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
    markShown: (workspaceId, userId, readId) => markShown(db, workspaceId, userId, readId),
    listUsers: async (workspaceId, limit) => {
      const rows = await db
        .selectFrom('homes')
        .select('user_id')
        .where('workspace_id', '=', workspaceId)
        .orderBy('opened_at', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ user_id }) => user_id);
    },
  };
}

function findRow(db: Queries, workspaceId: WorkspaceId, userId: UserId) {
  return db
    .selectFrom('homes')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

async function markShown(
  db: Queries,
  workspaceId: WorkspaceId,
  userId: UserId,
  readId: string,
): Promise<boolean> {
  const marked = await db
    .updateTable('homes')
    .set({ shown: readId })
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .where('shown', '<=', readId)
    .returning('user_id')
    .executeTakeFirst();
  return marked !== undefined || (await findRow(db, workspaceId, userId)) === undefined;
}
