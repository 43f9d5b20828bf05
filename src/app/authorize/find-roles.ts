import { coversRole, type Grant, type HeldRole, type HeldRoles } from '../../domain/access.ts';
import { type Actor, type Role, roleCovers } from '../../domain/actor.ts';
import { Refusal } from '../../domain/errors.ts';
import { EVERY_SERVER } from '../../domain/label-pattern.ts';
import type { AppContext } from '../ports.ts';
import type { FreshOption, SlackUser } from './ports.ts';

/** The roles that a user is known to hold; `possible` are further ones that only Slack could confirm, and it did not answer. */
export interface KnownRoles {
  readonly held: HeldRoles;
  readonly possible: HeldRoles;
}

/** The roles that a user holds in this place (docs/design.md 3). When Slack doesn't answer, nothing is added. */
export async function findRoles(actor: Actor, app: AppContext, enough?: Role): Promise<HeldRoles> {
  return (await lookUpRoles(actor, app, (own) => coversAllServers(own, enough))).held;
}

/**
 * Whether a user still holds a role for the server with this label, when the app acts for them later.
 * @throws Refusal `identity_unknown` when Slack did not answer and its answer could change a no into a yes
 */
export async function hasRole(actor: Actor, needed: Role, label: string, app: AppContext): Promise<boolean> {
  const { held, possible } = await lookUpRoles(actor, app, undefined, { isFresh: true });
  if (coversRole(held, needed, label)) return true;
  if (coversRole(possible, needed, label)) throw new Refusal('identity_unknown', { userId: actor.userId });
  return false;
}

/**
 * Asks Slack only when the roles that are stored here are not enough, so that an on-call engineer with a grant of their
 * own gets in even while Slack's directory is down.
 */
export async function lookUpRoles(
  actor: Actor,
  app: AppContext,
  isEnough: (own: HeldRoles) => boolean = () => false,
  options: FreshOption = {},
): Promise<KnownRoles> {
  const { system } = app;
  if (!(await belongsToWorkspace(actor, app))) return NO_ROLES;
  const named = app.ownersOf(actor.workspaceId).includes(actor.userId) ? [OWNER_BY_NAME] : [];
  const grants = await app.grants.listFor(actor.workspaceId, actor, system.now());
  const own: HeldRoles = [
    ...named,
    ...grants.filter(({ subjectKind }) => subjectKind === 'user').map(toHeldRole),
  ];
  if (isEnough(own)) return { held: own, possible: [] };
  const others = grants.filter(({ subjectKind }) => subjectKind !== 'user');
  const { users } = app;
  // In parallel, since Slack waits at most 3 s for the answer to a submission.
  const [user, exists, answers] = await Promise.all([
    users.find(actor.workspaceId, actor.userId, options),
    users.exists(actor.workspaceId, actor.userId),
    Promise.all(others.map((grant) => appliesTo(grant, actor, app, options))),
  ]);
  const rolesWhere = (applies: boolean | undefined) =>
    others.filter((_, at) => answers[at] === applies).map(toHeldRole);
  if (!user) {
    const possible = [OWNER_AS_ADMIN, ...rolesWhere(true), ...rolesWhere(undefined)];
    return { held: own, possible: exists === 'yes' || exists === 'unknown' ? possible : [] };
  }
  if (cannotHoldRole(user, actor.workspaceId)) return NO_ROLES;
  if (user.isGuest) return { held: own, possible: [] };
  const held = [...(user.isAdmin ? [OWNER_AS_ADMIN] : []), ...own, ...rolesWhere(true)];
  return { held, possible: rolesWhere(undefined) };
}

/** Whether these roles already cover the needed one for every server, so that Slack's answer can't add anything. */
export function coversAllServers(roles: HeldRoles, needed: Role | undefined): boolean {
  if (needed === undefined) return false;
  return roles.some(({ role, pattern }) => roleCovers(role, needed) && pattern === EVERY_SERVER);
}

export const NO_ROLES: KnownRoles = { held: [], possible: [] };

/** The roles of a program that runs on the machine itself. */
export const ALL_ROLES: KnownRoles = {
  held: [{ role: 'owner', pattern: EVERY_SERVER, source: 'named' }],
  possible: [],
};

const OWNER_BY_NAME: HeldRole = { role: 'owner', pattern: EVERY_SERVER, source: 'named' };
const OWNER_AS_ADMIN: HeldRole = { role: 'owner', pattern: EVERY_SERVER, source: 'admin' };

/**
 * Whether a user belongs to the workspace. Slack names another team for users from other organizations (Slack
 * Connect), and also for members of an Enterprise Grid whose home is another of its workspaces. Only users whom Slack
 * itself lists as members of this workspace pass.
 */
export async function belongsToWorkspace(actor: Actor, { users }: AppContext): Promise<boolean> {
  if (actor.homeTeamId === undefined || actor.homeTeamId === actor.workspaceId) return true;
  const user = await users.find(actor.workspaceId, actor.userId);
  return user !== undefined && !user.isStranger && user.teamIds.includes(actor.workspaceId);
}

/** Whether this user can't have any role: bots, deactivated users and users from outside the workspace. */
export function cannotHoldRole(user: SlackUser, workspaceId: string): boolean {
  const { isBot, isDeactivated, isStranger, teamIds } = user;
  const isElsewhere = teamIds.length > 0 && !teamIds.includes(workspaceId);
  return isBot || isDeactivated || isStranger || isElsewhere;
}

function toHeldRole(grant: Grant): HeldRole {
  return { role: grant.role, pattern: grant.pattern, source: grant };
}

/**
 * Whether a grant applies to the actor; undefined when Slack doesn't say who is in the group. Grants of other channels and
 * users were never loaded.
 */
async function appliesTo(
  grant: Grant,
  actor: Actor,
  { groups }: AppContext,
  options: FreshOption,
): Promise<boolean | undefined> {
  if (grant.subjectKind !== 'group') return true;
  const members = await groups.listMembers(actor.workspaceId, grant.subjectId, options);
  return members?.includes(actor.userId);
}
