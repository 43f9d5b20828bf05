import type { Thread } from '../servers/mentioned.ts';
import type { ConfirmationId, UserId, WorkspaceId } from './ids.ts';
import type { Secret } from './secret.ts';

/** The workspaces that the app is installed in. */
export interface Installations {
  /** False also for a former workspace; undefined while Slack has not said which workspace the token is for. */
  isServed(workspaceId: WorkspaceId): Promise<boolean | undefined>;
  /** The app's token can't be renewed: it works for a few hours at most, and then only another install helps. */
  needsInstall?(workspaceId: WorkspaceId): Promise<boolean>;
}

/** What Slack says about a user. */
export interface SlackUser {
  readonly isAdmin: boolean;
  readonly isGuest: boolean;
  readonly isBot: boolean;
  readonly isDeactivated: boolean;
  /** From another organization (Slack Connect). */
  readonly isStranger: boolean;
  /** The workspaces that Slack lists the user as a member of: several in Enterprise Grid. */
  readonly teamIds: readonly string[];
  /** The IANA name of the time zone in their profile. */
  readonly timeZone?: string;
}

/** A cached answer of Slack is not enough. */
export interface FreshOption {
  readonly isFresh?: boolean;
}

/**
 * `invisible`: Slack doesn't show them to this app, which is no proof that they are no member. `hidden`: the app lacks the scope
 * `users:read`. Trying again won't help with either.
 */
export type Existence = 'yes' | 'no' | 'invisible' | 'hidden' | 'unknown';

export interface Users {
  /**
   * Undefined when the user can't be looked up: then only grants to the user themself count. `isFresh` asks Slack again
   * even if an earlier answer is cached: for what changes access or spends money.
   */
  find(workspaceId: string, userId: string, options?: FreshOption): Promise<SlackUser | undefined>;
  /**
   * Whether Slack knows the user at all; called where `find` has no answer. `isFresh` as for `find`: asked for at the same
   * time, both get one answer.
   */
  exists(workspaceId: string, userId: string, options?: FreshOption): Promise<Existence>;
}

/** The admins and owners of a Slack workspace. */
export interface Admins {
  readonly users: readonly (SlackUser & { readonly id: UserId })[];
  /** False for a workspace with so many members that Slack was not asked about all of them. */
  readonly isComplete: boolean;
}

/** Slack's list of its admins (scope `users:read`), cached for five minutes: it shows roles and never gives one. */
export interface AdminList {
  /** Undefined without the scope, or when Slack does not answer. */
  list(workspaceId: WorkspaceId): Promise<Admins | undefined>;
}

export interface UserGroup {
  readonly id: string;
  /** The name that it is mentioned by, without the @. */
  readonly handle: string;
  readonly name: string;
  readonly isDisabled: boolean;
}

/** Slack's user groups (scope `usergroups:read`), cached for five minutes. */
export interface Groups {
  /** Undefined without the scope, or when Slack does not answer. */
  list(workspaceId: string): Promise<readonly UserGroup[] | undefined>;
  /**
   * The IDs of its members; empty for a group that is disabled or not listed, and without the scope. Undefined when
   * Slack does not answer. `isFresh` asks Slack again, unless it answered within the last few seconds.
   */
  listMembers(
    workspaceId: string,
    groupId: string,
    options?: FreshOption,
  ): Promise<readonly string[] | undefined>;
}

/** Signed requests that changed something, stored for as long as Slack's signature would let them be replayed. */
export interface SeenRequests {
  /** True the first time that this ID is added, false after that. */
  addFirst(requestId: string, at: number): Promise<boolean>;
  /** Adds all of them; false if one was there before. They stay as long as if added at that time. */
  addAll(requestIds: readonly string[], at: number): Promise<boolean>;
  removeBefore(at: number): Promise<void>;
}

/** `response_url`s, sealed: each is a capability to post for 30 minutes, five times (Slack, "Handling user interaction"). */
export interface ReplyUrls {
  store(id: string, workspaceId: string, url: Secret<string>, until: number): Promise<void>;
  /** Takes one of the five uses; undefined when none is left or the URL has expired. */
  use(id: string, now: number): Promise<Secret<string> | undefined>;
  removeExpired(now: number): Promise<void>;
}

/** The threads in which orders and requests were made: their outcomes are announced there, by any process. */
export interface OutcomeThreads {
  /** `id`: of the form, and so of the operation or the request. */
  store(id: ConfirmationId, workspaceId: WorkspaceId, thread: Thread, until: number): Promise<void>;
  find(id: ConfirmationId): Promise<Thread | undefined>;
  removeExpired(now: number): Promise<void>;
}
