import type { AppContext } from '../context.ts';
import type { ChannelId, UserId, WorkspaceId } from '../core/ids.ts';
import type { Grant } from '../core/roles.ts';
import type { Foundation } from '../db/database.ts';

export interface OpenedHome {
  /** The user's conversation with the app. */
  readonly channelId: ChannelId;
  /** Page of servers, from 0. */
  readonly page: number;
  /** Epoch milliseconds. */
  readonly openedAt: number;
}

/** Members of a group whose Home is refreshed, latest openers first. The others see the change when they open Home. */
const MOST_OF_A_GROUP = 200;

/**
 * Refreshes the Home of all users whose roles have changed with these grants: Home would keep showing the servers of a revoked
 * role. Roles of channels don't apply on Home.
 */
export async function redrawHomes(grants: readonly Grant[], app: AppContext): Promise<void> {
  for (const workspaceId of new Set(grants.map((grant) => grant.workspaceId))) {
    const own = grants.filter((grant) => grant.workspaceId === workspaceId);
    const users = await Promise.all(own.map((grant) => listUsers(grant, app)));
    const concerned = [...new Set(users.flat())];
    if (concerned.length > 0) app.redrawHome(workspaceId, concerned);
  }
}

async function listUsers(
  { workspaceId, subjectKind, subjectId }: Grant,
  { homes, groups }: AppContext,
): Promise<readonly UserId[]> {
  if (subjectKind === 'user') return [subjectId];
  if (subjectKind !== 'group') return [];
  const members = new Set(await groups.listMembers(workspaceId, subjectId));
  const opened = await homes.listUsers(workspaceId, MOST_OPENED);
  return opened.filter((userId) => members.has(userId)).slice(0, MOST_OF_A_GROUP);
}

/** Openers of Home that are read to find members of a group. Cheap: a row has only two short IDs. */
const MOST_OPENED = 5000;

export type Homes = ReturnType<typeof createHomes>;

/** Stores who has opened Home, for the welcome and so that any process can refresh it later. */
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
    /** Latest openers first. */
    listUsers: async (workspaceId: WorkspaceId, limit: number): Promise<readonly UserId[]> => {
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
