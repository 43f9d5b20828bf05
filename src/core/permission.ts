import type { AppContext } from '../context.ts';
import type { FreshOption, SlackUser } from './directory.ts';
import type { Caller, UseCaseSpec } from './entry.ts';
import { Refusal } from './errors.ts';
import { EVERY_SERVER, isSameLabel } from './labels.ts';
import { withTimeout } from './locks.ts';
import {
  type Actor,
  coversRole,
  type Grant,
  type HeldRole,
  type HeldRoles,
  type Role,
  roleCovers,
  strongestRole,
} from './roles.ts';
import { isExpired } from './workflow-key.ts';

/**
 * The one permission check (docs/design.md 3): returns the roles that the actor holds in this place.
 * `isEnough` decides whether the roles that are known without asking Slack are enough.
 * @throws Refusal `other_workspace`, `other_organization`, `role_needed`, `identity_unknown`, `workflow_key_invalid`
 */
export async function checkPermission(
  useCase: UseCaseSpec,
  caller: Caller,
  app: AppContext,
  isEnough: (own: KnownRoles['held'], needed: Role) => boolean,
  options: FreshOption = {},
): Promise<KnownRoles> {
  const { needs } = useCase;
  const { actor, surface } = caller;
  // A user who can run programs on the machine has the database and its keys anyway.
  if (surface === 'cli') return ALL_ROLES;
  const isServed = await app.installations.isServed(actor.workspaceId);
  if (isServed === undefined) throw new Refusal('identity_unknown', {});
  if (!isServed) throw new Refusal('other_workspace', {});
  if (surface === 'workflow') return checkWorkflowKey(useCase, caller, app);
  if (!(await belongsToWorkspace(actor, app))) throw await describeOutsider(actor, app);
  if (needs === 'anyone') return NO_ROLES;
  const roles = await lookUpRoles(actor, app, (own) => isEnough(own, needs), options);
  if (!coversRole(roles.held, needs)) throw await describeMissingRole(needs, roles, actor, app);
  return roles;
}

/** In an Enterprise Grid a member may be at home in another workspace: without the scope, the app can't know (docs/slack.md). */
async function describeOutsider(actor: Actor, { users }: AppContext): Promise<Refusal> {
  const isHidden = (await users.exists(actor.workspaceId, actor.userId)) === 'hidden';
  return new Refusal('other_organization', isHidden ? { missingScope: 'users:read' } : {});
}

const OWNERS_TIMEOUT_MS = 300;

/** The refusal with the role that is needed, the one that is held, and the owners who could grant it. */
export async function describeMissingRole(
  needed: Role,
  roles: KnownRoles,
  actor: Actor,
  app: AppContext,
  server?: { readonly label: string; readonly typed: string },
): Promise<Refusal> {
  if (coversRole(roles.possible, needed, server?.label)) return new Refusal('identity_unknown', {});
  // Naming the owners is a courtesy: it must not delay the refusal when Slack is slow.
  const owners = await withTimeout(listOwners(actor.workspaceId, app), app.system, OWNERS_TIMEOUT_MS);
  const held = strongestRole(roles.held);
  return new Refusal('role_needed', {
    needed,
    owners: owners ?? [],
    held,
    label: server && findKnownLabel(server, roles),
  });
}

/** An ID, an address or the beginning of a label must not tell the label to users whose roles are for other servers. */
function findKnownLabel(
  { label, typed }: { readonly label: string; readonly typed: string },
  { held }: KnownRoles,
): string {
  return isSameLabel(typed, label) || coversRole(held, 'viewer', label) ? label : '';
}

/** What a workflow key is worth, whatever its owner issued it for. */
const ROLE_OF_KEYS: Role = 'operator';

/**
 * The permission of a workflow, which Slack's event doesn't name: what its workflow key says at this moment, and nothing
 * else (docs/workflows.md). The key's pattern then limits it to servers, as that of a role does.
 * @throws Refusal `workflow_key_invalid`
 */
async function checkWorkflowKey(
  { name, needs }: UseCaseSpec,
  { actor, workflowKeyId }: Caller,
  { workflowKeys, system }: AppContext,
): Promise<KnownRoles> {
  const key = workflowKeyId && (await workflowKeys.find(actor.workspaceId, workflowKeyId));
  if (!key) throw new Refusal('workflow_key_invalid', { problem: 'unknown' });
  if (isExpired(key, system.now())) throw new Refusal('workflow_key_invalid', { problem: 'expired' });
  const isMeant = key.actions.some((action) => action === name);
  if (!isMeant || needs === 'anyone' || !roleCovers(ROLE_OF_KEYS, needs))
    throw new Refusal('workflow_key_invalid', { problem: 'action' });
  return { held: [{ role: ROLE_OF_KEYS, pattern: key.pattern, source: 'named' }], possible: [] };
}

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

const NO_ROLES: KnownRoles = { held: [], possible: [] };

/** The roles of a program that runs on the machine itself. */
const ALL_ROLES: KnownRoles = {
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
async function belongsToWorkspace(actor: Actor, { users }: AppContext): Promise<boolean> {
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

const MOST_CANDIDATES = 30;
const MOST_NAMED = 10;

/** The owners who are known by ID, ten at most. */
export async function listOwners(workspaceId: string, app: AppContext): Promise<readonly string[]> {
  return listRoleHolders('owner', undefined, workspaceId, app);
}

/**
 * The users who could approve a request about the server with this label, without the requester: those who are known
 * by ID, ten at most.
 */
export async function listApprovers(
  request: { readonly workspaceId: string; readonly requesterId: string; readonly label: string },
  app: AppContext,
): Promise<readonly string[]> {
  const managers = await listRoleHolders('manager', request.label, request.workspaceId, app);
  return managers.filter((userId) => userId !== request.requesterId).slice(0, MOST_NAMED);
}

/**
 * Candidates are the named owners, everyone with a grant, and everyone who has granted a role: Slack offers no list of its
 * admins. Each one's roles are checked, which leaves out guests in a group, deactivated users and roles that have ended.
 */
async function listRoleHolders(
  needed: Role,
  label: string | undefined,
  workspaceId: string,
  app: AppContext,
): Promise<readonly string[]> {
  const grants = await app.grants.list(workspaceId);
  const fitting = grants.filter(({ role, pattern }) =>
    coversRole([{ role, pattern, source: 'named' }], needed, label),
  );
  const members = fitting.map(({ subjectKind, subjectId }) => {
    if (subjectKind === 'group') return app.groups.listMembers(workspaceId, subjectId);
    return subjectKind === 'user' ? [subjectId] : [];
  });
  const granted = (await Promise.all(members)).flatMap((ids) => ids ?? []);
  const known = [...app.ownersOf(workspaceId), ...granted, ...grants.map(({ grantedBy }) => grantedBy)];
  const candidates = [...new Set(known)].slice(0, MOST_CANDIDATES);
  const roles = await Promise.all(
    candidates.map((userId) => findRoles({ workspaceId, userId }, app, needed)),
  );
  return candidates.filter((_, at) => coversRole(roles[at] ?? [], needed, label)).slice(0, MOST_NAMED + 1);
}
