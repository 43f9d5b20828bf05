import type { AppContext } from '../context.ts';
import type { FreshOption, SlackUser } from '../slack/directory.ts';
import type { Caller, UseCaseSpec } from './entry.ts';
import { Refusal } from './errors.ts';
import { EVERY_SERVER, isSameLabel } from './labels.ts';
import { withTimeout } from './promises.ts';
import {
  type Actor,
  coversRole,
  findKeyNameOf,
  type Grant,
  type HeldRole,
  type HeldRoles,
  isCommandLine,
  isKeyExpired,
  type Role,
  roleCovers,
  strongestRole,
} from './roles.ts';

/**
 * The one permission check (docs/design.md 3). Returns the roles that the actor holds in this workspace and channel; none for a
 * use case that `anyone` may run. Slack is asked only if `isEnough` rejects the roles that are known without it.
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
  // Who can run programs on the machine has the database and its keys anyway.
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

/** Makes the refusal for a user of another team; without the scope, that may be a member with another home (docs/slack.md). */
async function describeOutsider(actor: Actor, { users }: AppContext): Promise<Refusal> {
  const isHidden = (await users.exists(actor.workspaceId, actor.userId)) === 'hidden';
  return new Refusal('other_organization', isHidden ? { missingScope: 'users:read' } : {});
}

const OWNERS_TIMEOUT_MS = 300;

/**
 * Returns the refusal `role_needed` with the role that the actor holds and the owners who could grant the missing one; or
 * `identity_unknown` if an answer of Slack could still prove the needed role.
 */
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

/** Returns the refusal `no_api_key`, with the owners who can connect an account. Never waits long for Slack. */
export async function describeNotConnected(actor: Actor, app: AppContext): Promise<Refusal> {
  if (isCommandLine(actor.userId) || findKeyNameOf(actor.userId) !== undefined)
    return new Refusal('no_api_key', {});
  const known = await withTimeout(
    Promise.all([
      lookUpRoles(actor, app, (own) => coversRole(own, 'owner')),
      listOwners(actor.workspaceId, app),
    ]),
    app.system,
    OWNERS_TIMEOUT_MS,
  );
  const [roles, owners = []] = known ?? [];
  return new Refusal('no_api_key', {
    owners,
    isOwner: roles !== undefined && coversRole(roles.held, 'owner'),
  });
}

/** Returns the label if the actor typed it or may see it, otherwise ''. */
function findKnownLabel(
  { label, typed }: { readonly label: string; readonly typed: string },
  { held }: KnownRoles,
): string {
  return isSameLabel(typed, label) || coversRole(held, 'viewer', label) ? label : '';
}

const ROLE_OF_KEYS: Role = 'operator';

/**
 * Checks what a workflow may do: what its key permits at this moment, since Slack's event doesn't name the workflow
 * (docs/workflows.md). The key's pattern limits it to servers, like the pattern of a role.
 * @throws Refusal `workflow_key_invalid`
 */
async function checkWorkflowKey(
  { name, needs }: UseCaseSpec,
  { actor, workflowKeyId }: Caller,
  { workflowKeys, system }: AppContext,
): Promise<KnownRoles> {
  const key = workflowKeyId && (await workflowKeys.find(actor.workspaceId, workflowKeyId));
  if (!key) throw new Refusal('workflow_key_invalid', { problem: 'unknown' });
  if (isKeyExpired(key, system.now())) throw new Refusal('workflow_key_invalid', { problem: 'expired' });
  const isMeant = key.actions.some((action) => action === name);
  if (!isMeant || needs === 'anyone' || !roleCovers(ROLE_OF_KEYS, needs))
    throw new Refusal('workflow_key_invalid', { problem: 'action' });
  return { held: [{ role: ROLE_OF_KEYS, pattern: key.pattern, source: 'named' }], possible: [] };
}

/** The roles that a user is known to hold, and `possible` ones that Slack would have had to confirm but did not. */
export interface KnownRoles {
  readonly held: HeldRoles;
  readonly possible: HeldRoles;
}

/**
 * Lists the roles that a user is known to hold in this workspace and channel (docs/design.md 3). Does not ask Slack if the stored
 * roles cover `enough` for all servers.
 */
export async function findRoles(actor: Actor, app: AppContext, enough?: Role): Promise<HeldRoles> {
  return (await lookUpRoles(actor, app, (own) => coversAllServers(own, enough))).held;
}

/**
 * Whether a user holds a role for the server with this label, by a fresh answer of Slack: for what the app does for them later.
 * @throws Refusal `identity_unknown` if Slack did not answer and its answer could prove the role
 */
export async function hasRole(actor: Actor, needed: Role, label: string, app: AppContext): Promise<boolean> {
  const { held, possible } = await lookUpRoles(actor, app, undefined, { isFresh: true });
  if (coversRole(held, needed, label)) return true;
  if (coversRole(possible, needed, label)) throw new Refusal('identity_unknown', { userId: actor.userId });
  return false;
}

/**
 * Looks up the roles of a user. Asks Slack only if `isEnough` rejects the stored roles, so that an on-call engineer with a grant
 * of their own gets in while Slack's directory is down.
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
  // In parallel, since Slack waits 3 s at most for the answer to a submission.
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

/** Whether one of these roles covers the needed role for all servers, so that an answer of Slack can't add anything. */
export function coversAllServers(roles: HeldRoles, needed: Role | undefined): boolean {
  if (needed === undefined) return false;
  return roles.some(({ role, pattern }) => roleCovers(role, needed) && pattern === EVERY_SERVER);
}

const NO_ROLES: KnownRoles = { held: [], possible: [] };

const OWNER_BY_NAME: HeldRole = { role: 'owner', pattern: EVERY_SERVER, source: 'named' };
/** The roles of programs on the app's machine. */
const ALL_ROLES: KnownRoles = { held: [OWNER_BY_NAME], possible: [] };
const OWNER_AS_ADMIN: HeldRole = { role: 'owner', pattern: EVERY_SERVER, source: 'admin' };

/**
 * Whether a user belongs to the workspace. Slack names another home team for users of other organizations (Slack Connect), but
 * also for members of an Enterprise Grid whose home is another of its workspaces: they pass if Slack lists this one for them.
 */
async function belongsToWorkspace(actor: Actor, { users }: AppContext): Promise<boolean> {
  if (actor.homeTeamId === undefined || actor.homeTeamId === actor.workspaceId) return true;
  const user = await users.find(actor.workspaceId, actor.userId);
  return user !== undefined && !user.isStranger && user.teamIds.includes(actor.workspaceId);
}

/** Whether a user can't have any role: a bot, a deactivated user, or one from outside the workspace (docs/design.md 3.4). */
export function cannotHoldRole(user: SlackUser, workspaceId: string): boolean {
  const { isBot, isDeactivated, isStranger, teamIds } = user;
  const isElsewhere = teamIds.length > 0 && !teamIds.includes(workspaceId);
  return isBot || isDeactivated || isStranger || isElsewhere;
}

function toHeldRole(grant: Grant): HeldRole {
  return { role: grant.role, pattern: grant.pattern, source: grant };
}

/**
 * Whether a grant applies to the actor; undefined if Slack doesn't say who is in its group. Grants to other users and channels
 * must have been left out before.
 */
async function appliesTo(
  grant: Grant,
  { workspaceId, userId }: Actor,
  { groups, channels }: AppContext,
  options: FreshOption,
): Promise<boolean | undefined> {
  const { subjectKind, subjectId } = grant;
  if (subjectKind === 'group')
    return (await groups.listMembers(workspaceId, subjectId, options))?.includes(userId);
  // Their form may have been open since before they left the channel. Elsewhere, Slack shows it to its members only.
  return !options.isFresh || (await channels.hasMember(workspaceId, subjectId, userId)) !== false;
}

const MOST_CANDIDATES = 30;
const MOST_NAMED = 10;

/** Lists owners by ID, eleven at most; Slack's admins only if `OWNERS` or a grant names them. */
export async function listOwners(workspaceId: string, app: AppContext): Promise<readonly string[]> {
  return listRoleHolders('owner', undefined, workspaceId, app);
}

/** Lists users who could approve a request about the server with this label, ten at most, without the requester. */
export async function listApprovers(
  request: { readonly workspaceId: string; readonly requesterId: string; readonly label: string },
  app: AppContext,
): Promise<readonly string[]> {
  const managers = await listRoleHolders('manager', request.label, request.workspaceId, app);
  return managers.filter((userId) => userId !== request.requesterId).slice(0, MOST_NAMED);
}

/**
 * Lists users who hold a role. Candidates are the named owners, users with a grant that fits, and users who have granted a role; of
 * these, the first 30. Checking their roles leaves out guests in a group, deactivated users and roles that have ended.
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
