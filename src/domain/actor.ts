/** Weakest first; each role may do all that the ones before it may (docs/design.md 3). */
export const ROLES = ['viewer', 'operator', 'manager', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** Who acts, and where. Slack ids only: never an e-mail address or a name. */
export interface Actor {
  readonly workspaceId: string;
  readonly userId: string;
  /** Where it was done; absent for modals and the home screen. */
  readonly channelId?: string;
  /**
   * The team that Slack says the person belongs to; a different one than the workspace's means
   * somebody of another organisation (Slack Connect), who has no role at all.
   */
  readonly homeTeamId?: string;
}

/** Tells whether somebody with this role may do what needs that one. */
export function roleCovers(held: Role | undefined, needed: Role): boolean {
  return held !== undefined && ROLES.indexOf(held) >= ROLES.indexOf(needed);
}

/** Picks the stronger of two roles. */
export function strongerRole(a: Role | undefined, b: Role | undefined): Role | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return ROLES.indexOf(a) >= ROLES.indexOf(b) ? a : b;
}

/** Who acts in the audit when the app does something by itself. */
export const THE_APP = 'app';
