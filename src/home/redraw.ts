import type { AppContext } from '../context.ts';
import type { ChannelId, UserId, WorkspaceId } from '../core/ids.ts';
import type { Grant } from '../core/roles.ts';
import type { Foundation, Queries } from '../db/database.ts';

/** The Home tab of one user, as they opened it last. */
export interface OpenedHome {
  /** The user's own conversation with the app. */
  readonly channelId: ChannelId;
  /** Of the list of servers; from 0. */
  readonly page: number;
  /** Epoch milliseconds. */
  readonly openedAt: number;
}

/** Who has opened the app's Home, for the welcome and so that any process can refresh it later. */
export interface Homes {
  find(workspaceId: WorkspaceId, userId: UserId): Promise<OpenedHome | undefined>;
  /** Replaces what was stored for the user. */
  put(workspaceId: WorkspaceId, userId: UserId, opened: OpenedHome): Promise<void>;
  /**
   * Notes that what was read at the time of that ID is shown from now on. False if something was that was read later: another
   * process has published it. True also for a user who has not opened it before.
   */
  markShown(workspaceId: WorkspaceId, userId: UserId, readId: string): Promise<boolean>;
  /** Those who opened it last, first. */
  listUsers(workspaceId: WorkspaceId, limit: number): Promise<readonly UserId[]>;
}

/** Shows the Home tabs of users again who did nothing themselves. */
export interface HomeRedraw {
  /**
   * Shows each of them again if its user has ever opened it: one after the other, so that Slack takes them all. Returns at
   * once; what fails is logged.
   */
  redraw(workspaceId: WorkspaceId, userIds: readonly UserId[]): void;
}

/** Of a large group, only the users who opened Home last are updated; the others see the change when they open it again. */
const MOST_OF_A_GROUP = 200;

/**
 * Shows the Home of all users again whose roles have changed with these grants: a Home keeps showing the servers of a role that
 * was revoked. Roles for channels don't count on Home.
 */
export async function redrawHomes(grants: readonly Grant[], app: AppContext): Promise<void> {
  for (const workspaceId of new Set(grants.map((grant) => grant.workspaceId))) {
    const own = grants.filter((grant) => grant.workspaceId === workspaceId);
    const users = await Promise.all(own.map((grant) => listUsers(grant, app)));
    const concerned = [...new Set(users.flat())];
    if (concerned.length > 0) app.homeRedraw.redraw(workspaceId, concerned);
  }
}

async function listUsers(
  { workspaceId, subjectKind, subjectId }: Grant,
  app: AppContext,
): Promise<readonly UserId[]> {
  if (subjectKind === 'user') return [subjectId];
  return subjectKind === 'group' ? listMembers(workspaceId, subjectId, app) : [];
}

async function listMembers(
  workspaceId: WorkspaceId,
  groupId: string,
  { homes, groups }: AppContext,
): Promise<readonly UserId[]> {
  const members = new Set(await groups.listMembers(workspaceId, groupId));
  const opened = await homes.listUsers(workspaceId, MOST_OPENED);
  return opened.filter((userId) => members.has(userId)).slice(0, MOST_OF_A_GROUP);
}

/** A row has only two short IDs, so this many are cheap to read. */
const MOST_OPENED = 5000;

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
