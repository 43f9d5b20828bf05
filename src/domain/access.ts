import { ROLES, type Role, roleCovers } from './actor.ts';
import { matchesPattern } from './label-pattern.ts';

/** To whom a role is given: a person, a user group of Slack, or whoever is a full member and acts in a channel. */
export interface Grantee {
  readonly subjectKind: 'user' | 'group' | 'channel';
  readonly subjectId: string;
}

/** A role that an owner gave. */
export interface Grant extends Grantee {
  readonly id: string;
  readonly workspaceId: string;
  readonly role: Role;
  /** Labels of the servers that it is for (`label-pattern.ts`); '' for all. */
  readonly pattern: string;
  readonly grantedBy: string;
  readonly grantedAt: number;
  /** Epoch milliseconds; absent when it is for good. */
  readonly until?: number;
}

/** A role that somebody holds here and now, and why. */
export interface HeldRole {
  readonly role: Role;
  readonly pattern: string;
  /** Named in `OWNERS`, an admin of the Slack workspace, or by a grant. */
  readonly source: 'named' | 'admin' | Grant;
}

/** All that somebody may do here and now; empty for nothing. */
export type HeldRoles = readonly HeldRole[];

/** Tells whether it reaches a role: for the server of this label, or without one for any server at all. */
export function coversRole(reach: HeldRoles, needed: Role, label?: string): boolean {
  return reach.some(
    ({ role, pattern }) =>
      roleCovers(role, needed) && (label === undefined || matchesPattern(pattern, label)),
  );
}

/** The strongest role in it, whatever servers it is for; undefined for none. */
export function strongestRole(reach: HeldRoles): Role | undefined {
  return [...ROLES].reverse().find((role) => reach.some((hold) => hold.role === role));
}
