import type { WorkspaceId } from '../../domain/ids.ts';
import type { Secret } from '../../domain/secret.ts';

/** The workspaces that the app is installed in. */
export interface Installations {
  /** False for a workspace that was served before, too; undefined while Slack has not said which one the token is for. */
  isServed(workspaceId: WorkspaceId): Promise<boolean | undefined>;
}

/** What is asked of Slack about a person. */
export interface SlackUser {
  readonly isAdmin: boolean;
  readonly isGuest: boolean;
  readonly isBot: boolean;
  readonly isDeactivated: boolean;
  /** Of another organisation (Slack Connect). */
  readonly isStranger: boolean;
  /** The workspaces that they are a member of, as far as Slack says: several in Enterprise Grid. */
  readonly teamIds: readonly string[];
}

/** How an answer of Slack may be had. */
export interface Freshness {
  /** Slack is asked again, whatever it said a moment ago: before money is spent. */
  readonly isFresh?: boolean;
}

export interface Users {
  /** Undefined when it can't be looked up: then nothing but a grant by name counts. */
  find(workspaceId: string, userId: string, freshness?: Freshness): Promise<SlackUser | undefined>;
  /** Whether Slack knows such a person at all; asked where `find` has no answer. */
  /** `hidden`: the app may not ask (no scope `users:read`), so no later answer can be another one. */
  exists(workspaceId: string, userId: string): Promise<'yes' | 'no' | 'hidden' | 'unknown'>;
}

export interface UserGroup {
  readonly id: string;
  /** As it is mentioned, without the @. */
  readonly handle: string;
  readonly name: string;
  readonly isDisabled: boolean;
}

/** Slack's user groups (scope `usergroups:read`); asked at most once in five minutes. */
export interface Groups {
  /** Undefined without the scope, or when Slack does not answer. */
  list(workspaceId: string): Promise<readonly UserGroup[] | undefined>;
  /**
   * Ids of its members: none of a group that is disabled or not listed, and none without the scope. Undefined when
   * Slack does not answer: then nobody knows.
   */
  listMembers(workspaceId: string, groupId: string): Promise<readonly string[] | undefined>;
}

/** Signed requests that changed something, remembered as long as Slack's signature lets them be replayed. */
export interface SeenRequests {
  /** True the first time, false ever after. */
  addFirst(requestId: string, at: number): Promise<boolean>;
  removeBefore(at: number): Promise<void>;
}

/** `response_url`s, sealed: each is a capability to post for 30 minutes, five times (Slack, "Handling user interaction"). */
export interface ReplyUrls {
  store(id: string, workspaceId: string, url: Secret<string>, until: number): Promise<void>;
  /** Takes one of the five uses; undefined when none is left, or it is too old. */
  use(id: string, now: number): Promise<Secret<string> | undefined>;
  removeExpired(now: number): Promise<void>;
}
