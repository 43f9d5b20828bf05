import type { ChannelId, UserId, WorkspaceId } from './ids.ts';

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
