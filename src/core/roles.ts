import type { ChannelId, GrantId, UserId, WorkspaceId } from './ids.ts';
import { matchesPattern } from './labels.ts';

/** Weakest first; each role may do all that the ones before it may (docs/design.md 3). */
export const ROLES = ['viewer', 'operator', 'manager', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** Who acts, and where. Slack ids only: never an e-mail address or a name. */
export interface Actor {
  readonly workspaceId: WorkspaceId;
  readonly userId: UserId;
  /** Where it was done; absent for modals and the home screen. */
  readonly channelId?: ChannelId;
  /**
   * The team that Slack says the user belongs to. If it is not the workspace's, the user is from another organization
   * (Slack Connect) and has no role.
   */
  readonly homeTeamId?: WorkspaceId;
}

/** Whether a user with the held role may do what needs the other one. */
export function roleCovers(held: Role | undefined, needed: Role): boolean {
  return held !== undefined && ROLES.indexOf(held) >= ROLES.indexOf(needed);
}

/** Picks the stronger of two roles. */
export function strongerRole(a: Role | undefined, b: Role | undefined): Role | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return ROLES.indexOf(a) >= ROLES.indexOf(b) ? a : b;
}

/** The actor in the audit when the app does something by itself. */
export const THE_APP: UserId = 'app';

/** The actor in the audit of programs that are run on the machine. */
export const THE_COMMAND_LINE: UserId = 'command line';

/** The same where the user of the machine is known: "command line (ann)". */
export function commandLineOf(systemUser: string): UserId {
  const name = systemUser.replace(/[\p{Cc}\p{Cf}]/gu, '').slice(0, 64);
  return `${THE_COMMAND_LINE} (${name || 'unknown'})`;
}

/** The actor in the audit of a step in a workflow that came with no key of the workspace. */
export const A_WORKFLOW: UserId = 'workflow';

/** The same where it came with a workflow key: "workflow (nightly)". */
export function workflowOf(keyName: string): UserId {
  return `${A_WORKFLOW} (${keyName})`;
}

/** The name of the workflow key with which a workflow acted; undefined for every other actor. */
export function findKeyNameOf(userId: UserId): string | undefined {
  return /^workflow \((.+)\)$/s.exec(userId)?.[1];
}

export function isCommandLine(userId: UserId): boolean {
  return userId === THE_COMMAND_LINE || userId.startsWith(`${THE_COMMAND_LINE} (`);
}

/** To whom a role is granted: a user, a user group of Slack, or every full member who acts in a channel. */
export interface Grantee {
  readonly subjectKind: 'user' | 'group' | 'channel';
  readonly subjectId: string;
}

/** A role that an owner granted. */
export interface Grant extends Grantee {
  readonly id: GrantId;
  readonly workspaceId: WorkspaceId;
  readonly role: Role;
  /** Labels of the servers that it is for (`label-pattern.ts`); '' for all. */
  readonly pattern: string;
  readonly grantedBy: UserId;
  readonly grantedAt: number;
  /** Epoch milliseconds; absent when it is permanent. */
  readonly until?: number;
}

/** A role that a user holds here and now, and why. */
export interface HeldRole {
  readonly role: Role;
  readonly pattern: string;
  /** Named in `OWNERS`, an admin of the Slack workspace, or by a grant. */
  readonly source: 'named' | 'admin' | Grant;
}

/** All roles that a user holds here and now; empty for none. */
export type HeldRoles = readonly HeldRole[];

/** Whether these roles cover a role: for the server of this label, or without one for any server at all. */
export function coversRole(roles: HeldRoles, needed: Role, label?: string): boolean {
  return roles.some(
    ({ role, pattern }) =>
      roleCovers(role, needed) && (label === undefined || matchesPattern(pattern, label)),
  );
}

/** The highest of these roles, whatever servers it is for; undefined for none. */
export function strongestRole(roles: HeldRoles): Role | undefined {
  return [...ROLES].reverse().find((role) => roles.some((held) => held.role === role));
}

/** An entry of `OWNERS`: a user, alone or in one workspace (`T012AB3CD:U012AB3CD`). */
export const NAMED_OWNER = /^(?:T[A-Z0-9]{2,}:)?[UW][A-Z0-9]{2,}$/;

/** Whether an entry of `OWNERS` names the workspace. */
export function isInWorkspace(entry: string): boolean {
  return entry.includes(':');
}

/** The owners of a workspace that the operator named; without a workspace, all of them. */
export function listNamedOwners(entries: readonly string[], workspaceId?: WorkspaceId): readonly UserId[] {
  const named = entries.map((entry) => entry.split(':'));
  return named.flatMap(([first = '', second]) => {
    if (second === undefined) return [first];
    return workspaceId === undefined || first === workspaceId ? [second] : [];
  });
}
