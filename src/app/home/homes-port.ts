import type { ChannelId, UserId, WorkspaceId } from '../../domain/ids.ts';

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
