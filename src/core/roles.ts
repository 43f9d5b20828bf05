import type { ChannelId, GrantId, UserId, WorkflowKeyId, WorkspaceId } from './ids.ts';
import { matchesPattern } from './labels.ts';
import type { PowerAction } from './server.ts';

/** The roles, weakest first; each includes the ones before it (docs/design.md 3.1). */
export const ROLES = ['viewer', 'operator', 'manager', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** The user an action is attributed to, and where. Holds Slack IDs: never an e-mail address or a name. */
export interface Actor {
  readonly workspaceId: WorkspaceId;
  readonly userId: UserId;
  /** The channel of the action; for a form, the one that it was opened in. Absent where that was none. */
  readonly channelId?: ChannelId;
  /**
   * The team that Slack names as the user's home, if the request has it. Another team than the workspace means another
   * organization (Slack Connect), or another workspace of an Enterprise Grid.
   */
  readonly homeTeamId?: WorkspaceId;
}

export function roleCovers(held: Role | undefined, needed: Role): boolean {
  return held !== undefined && ROLES.indexOf(held) >= ROLES.indexOf(needed);
}

/** The actor of audit entries about what the app does by itself. */
export const THE_APP: UserId = 'app';

/** The actor of audit entries about programs that are run on the machine. */
export const THE_COMMAND_LINE: UserId = 'command line';

/** Returns the actor for a program that this user of the machine runs: "command line (ann)". */
export function commandLineOf(systemUser: string): UserId {
  const name = systemUser.replace(/[\p{Cc}\p{Cf}]/gu, '').slice(0, 64);
  return `${THE_COMMAND_LINE} (${name || 'unknown'})`;
}

/** The actor of audit entries about a workflow's step that has no key of the workspace. */
export const A_WORKFLOW: UserId = 'workflow';

/** Returns the actor for a workflow's step with the key of this name: "workflow (nightly)". */
export function workflowOf(keyName: string): UserId {
  return `${A_WORKFLOW} (${keyName})`;
}

/** Returns the name of the workflow key in an actor made by `workflowOf`; undefined for every other actor. */
export function findKeyNameOf(userId: UserId): string | undefined {
  return /^workflow \((.+)\)$/s.exec(userId)?.[1];
}

/** Whether an actor is a program that was run on the machine. */
export function isCommandLine(userId: UserId): boolean {
  return userId === THE_COMMAND_LINE || userId.startsWith(`${THE_COMMAND_LINE} (`);
}

/** Who gets a role: a user, a user group, or every full member of a channel who acts in it. */
export interface Grantee {
  readonly subjectKind: 'user' | 'group' | 'channel';
  readonly subjectId: string;
}

export interface Grant extends Grantee {
  readonly id: GrantId;
  readonly workspaceId: WorkspaceId;
  readonly role: Role;
  /** The pattern of the labels that it is for (`matchesPattern`); '' for all servers. */
  readonly pattern: string;
  readonly grantedBy: UserId;
  /** Epoch milliseconds. */
  readonly grantedAt: number;
  /** Epoch milliseconds; absent if the grant is permanent. */
  readonly until?: number;
}

/** A role that a user holds at this moment, and its source. */
export interface HeldRole {
  readonly role: Role;
  /** As in `Grant`. */
  readonly pattern: string;
  /** `named`: by `OWNERS` or the app itself. `admin`: an admin of the Slack workspace. Otherwise the grant. */
  readonly source: 'named' | 'admin' | Grant;
}

/** All roles that a user holds at this moment. */
export type HeldRoles = readonly HeldRole[];

/** Whether one of these roles includes the needed one for the server with this label; without a label, for any server. */
export function coversRole(roles: HeldRoles, needed: Role, label?: string): boolean {
  return roles.some(
    ({ role, pattern }) =>
      roleCovers(role, needed) && (label === undefined || matchesPattern(pattern, label)),
  );
}

/** Returns the strongest of these roles for the server with this label; without a label, for any server. Undefined for none. */
export function strongestRole(roles: HeldRoles, label?: string): Role | undefined {
  return ROLES.findLast((role) => coversRole(roles, role, label));
}

/** Lists the users that entries of `OWNERS` make owners of a workspace; without a workspace, of any. */
export function listNamedOwners(entries: readonly string[], workspaceId?: WorkspaceId): readonly UserId[] {
  const named = entries.map((entry) => entry.split(':'));
  return named.flatMap(([first = '', second]) => {
    if (second === undefined) return [first];
    return workspaceId === undefined || first === workspaceId ? [second] : [];
  });
}

/**
 * A workflow key: what an owner lets workflows do (docs/workflows.md). The secret itself is not part of it: it is shown once, and
 * only its hash is stored.
 */
export interface WorkflowKey {
  readonly id: WorkflowKeyId;
  readonly workspaceId: WorkspaceId;
  /** Unique in its workspace, in any letter case. */
  readonly name: string;
  readonly actions: readonly PowerAction[];
  /** The pattern of the labels that it is for (`matchesPattern`); '' for all servers. */
  readonly pattern: string;
  readonly issuedBy: UserId;
  /** Epoch milliseconds, as in `until` and `lastUsedAt`. */
  readonly issuedAt: number;
  /** When it expires; absent if it doesn't. */
  readonly until?: number;
  /** When an action was last sent with it. */
  readonly lastUsedAt?: number;
}

/** Whether a workflow key has expired at a moment, in epoch milliseconds. */
export function isKeyExpired({ until }: WorkflowKey, now: number): boolean {
  return until !== undefined && until <= now;
}
