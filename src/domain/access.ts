import { ROLES, type Role, roleCovers } from './actor.ts';
import type { GrantId, UserId, WorkspaceId } from './ids.ts';
import { matchesPattern } from './label-pattern.ts';

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
