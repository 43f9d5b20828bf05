import type { ChannelId, UserId, WorkspaceId } from './ids.ts';

// What the app knows of a workspace from Slack: its users, groups and channels. `slack/directory.ts` looks them up.

/** The parts of a user's Slack profile (`users.info`, `users.list`) that roles depend on. */
export interface SlackUser {
  readonly isAdmin: boolean;
  readonly isGuest: boolean;
  readonly isBot: boolean;
  readonly isDeactivated: boolean;
  /** Whether the user is from another organization (Slack Connect). */
  readonly isStranger: boolean;
  /** The IDs of the workspaces that Slack lists the user as a member of: several in Enterprise Grid. */
  readonly teamIds: readonly string[];
  /** The IANA name of the time zone in their profile. */
  readonly timeZone?: string;
}

export interface FreshOption {
  /** Bypasses the cache: for what changes access or spends money. Default: false. */
  readonly isFresh?: boolean;
}

/**
 * Whether Slack knows a user ID. `invisible`: Slack doesn't show this user to the app, which doesn't prove that they aren't a
 * member. `hidden`: the app lacks the scope `users:read`. `unknown`: Slack did not answer; only then can another try help.
 */
export type Existence = 'yes' | 'no' | 'invisible' | 'hidden' | 'unknown';

/** Slack's users (scope `users:read`), cached for five minutes. Each look-up waits 2 s for Slack at most and never throws. */
export interface Users {
  /** Finds a user; undefined if the user can't be looked up, so that only grants to this user ID count. */
  find(workspaceId: string, userId: string, options?: FreshOption): Promise<SlackUser | undefined>;
  /** Whether Slack knows the user: tells why `find` returns undefined. Calls of both at the same time share one request. */
  exists(workspaceId: string, userId: string, options?: FreshOption): Promise<Existence>;
}

/** The users whom Slack lists as admins or owners of a workspace. */
export interface Admins {
  readonly users: readonly (SlackUser & { readonly id: UserId })[];
  /** False if the workspace has more than 5,000 users, of which the app reads only the first. */
  readonly isComplete: boolean;
}

/** The list of a workspace's admins (scope `users:read`), cached for five minutes. For display: it never gives a role. */
export interface AdminList {
  /** Lists the admins; undefined without the scope, or if Slack does not answer. */
  list(workspaceId: WorkspaceId): Promise<Admins | undefined>;
}

export interface UserGroup {
  readonly id: string;
  /** The name in a mention, without the @. */
  readonly handle: string;
  readonly name: string;
  readonly isDisabled: boolean;
}

/** Slack's user groups (scope `usergroups:read`), cached for five minutes. */
export interface Groups {
  /** Lists all groups, disabled ones too; undefined without the scope, or if Slack does not answer. */
  list(workspaceId: string): Promise<readonly UserGroup[] | undefined>;
  /**
   * Lists the IDs of a group's members: none if the group is disabled or not listed, or without the scope. Undefined if
   * Slack does not answer. With `isFresh`, the answer is at most four seconds old (docs/design.md 4.2).
   */
  listMembers(
    workspaceId: string,
    groupId: string,
    options?: FreshOption,
  ): Promise<readonly string[] | undefined>;
}

/** Looks up Slack's channels (scopes `channels:read`, `groups:read`). */
export interface Channels {
  /** `unknown`: deleted, or private without the app. Undefined without the scope or an answer. */
  look(workspaceId: WorkspaceId, channelId: ChannelId): Promise<'there' | 'archived' | 'unknown' | undefined>;
  /** Whether other organizations are members or invited (Slack Connect); undefined if Slack doesn't say. */
  isShared(workspaceId: WorkspaceId, channelId: ChannelId): Promise<boolean | undefined>;
  /** Whether the user is a member; undefined without the scope or an answer, and for private channels without the app. */
  hasMember(workspaceId: WorkspaceId, channelId: ChannelId, userId: UserId): Promise<boolean | undefined>;
}
