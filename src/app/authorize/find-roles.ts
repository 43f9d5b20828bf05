import { coversRole, type Grant, type HeldRole, type HeldRoles } from '../../domain/access.ts';
import { type Actor, type Role, roleCovers } from '../../domain/actor.ts';
import { Refusal } from '../../domain/errors.ts';
import { EVERY_SERVER } from '../../domain/label-pattern.ts';
import type { SlackUser } from '../access/ports.ts';
import type { Services } from '../services.ts';

type RoleSources = Pick<Services, 'store' | 'users' | 'groups' | 'settings' | 'system'>;

/** What is known of somebody here and now; `possible` is what they may hold besides, since Slack did not answer. */
export interface KnownRoles {
  readonly held: HeldRoles;
  readonly possible: HeldRoles;
}

/** All that somebody may do here and now (DESIGN 3): no answer of Slack gives nobody anything. */
export async function findRoles(actor: Actor, sources: RoleSources, enough?: Role): Promise<HeldRoles> {
  return (await lookUpRoles(actor, sources, (own) => coversAllServers(own, enough))).held;
}

/**
 * Whether somebody may still do something to the server of this label, where it is done in their name without them.
 * @throws Refusal `identity_unknown` when an answer that Slack owes could make it a yes
 */
export async function hasRole(
  actor: Actor,
  needed: Role,
  label: string,
  sources: RoleSources,
): Promise<boolean> {
  const { held, possible } = await lookUpRoles(actor, sources);
  if (coversRole(held, needed, label)) return true;
  if (coversRole(possible, needed, label)) throw new Refusal('identity_unknown', { userId: actor.userId });
  return false;
}

/**
 * Slack is asked only when what is known here is not enough: at three in the morning a grant by name opens the entry
 * even while Slack's directory is down.
 */
export async function lookUpRoles(
  actor: Actor,
  sources: RoleSources,
  isEnough: (own: HeldRoles) => boolean = () => false,
): Promise<KnownRoles> {
  const { store, settings, system } = sources;
  if (!(await belongsToWorkspace(actor, sources))) return NOTHING;
  const named = settings.owners.includes(actor.userId) ? [OWNER_BY_NAME] : [];
  const grants = await store.grants.listFor(actor.workspaceId, actor, system.now());
  const own: HeldRoles = [
    ...named,
    ...grants.filter(({ subjectKind }) => subjectKind === 'user').map(toHold),
  ];
  if (isEnough(own)) return { held: own, possible: [] };
  const others = grants.filter(({ subjectKind }) => subjectKind !== 'user');
  const { users } = sources;
  // All at once: a submission has to be answered within 3 s.
  const [person, exists, counts] = await Promise.all([
    users.find(actor.workspaceId, actor.userId),
    users.exists(actor.workspaceId, actor.userId),
    Promise.all(others.map((grant) => countsFor(grant, actor, sources))),
  ]);
  const holdsThat = (count: boolean | undefined) =>
    others.filter((_, at) => counts[at] === count).map(toHold);
  if (!person) {
    const possible = [OWNER_AS_ADMIN, ...holdsThat(true), ...holdsThat(undefined)];
    return { held: own, possible: exists === 'no' || exists === 'hidden' ? [] : possible };
  }
  if (cannotHoldRole(person, actor.workspaceId)) return NOTHING;
  if (person.isGuest) return { held: own, possible: [] };
  const held = [...(person.isAdmin ? [OWNER_AS_ADMIN] : []), ...own, ...holdsThat(true)];
  return { held, possible: holdsThat(undefined) };
}

/** Whether it reaches that role for every server, so that nothing could add to it. */
export function coversAllServers(roles: HeldRoles, needed: Role | undefined): boolean {
  if (needed === undefined) return false;
  return roles.some(({ role, pattern }) => roleCovers(role, needed) && pattern === EVERY_SERVER);
}

const NOTHING: KnownRoles = { held: [], possible: [] };

const OWNER_BY_NAME: HeldRole = { role: 'owner', pattern: EVERY_SERVER, source: 'named' };
const OWNER_AS_ADMIN: HeldRole = { role: 'owner', pattern: EVERY_SERVER, source: 'admin' };

/**
 * Tells whether somebody belongs to the workspace. Slack names another team in what people of other organisations
 * press (Slack Connect), and in what members of an Enterprise Grid press who are at home in another workspace of it:
 * only those whom Slack itself calls members of this one are let through.
 */
export async function belongsToWorkspace(
  actor: Actor,
  { users }: Pick<RoleSources, 'users'>,
): Promise<boolean> {
  if (actor.homeTeamId === undefined || actor.homeTeamId === actor.workspaceId) return true;
  const person = await users.find(actor.workspaceId, actor.userId);
  return person !== undefined && !person.isStranger && person.teamIds.includes(actor.workspaceId);
}

/** Tells whether nobody may give this person a role, by what Slack says of them. */
export function cannotHoldRole(person: SlackUser, workspaceId: string): boolean {
  const { isBot, isDeactivated, isStranger, teamIds } = person;
  const isElsewhere = teamIds.length > 0 && !teamIds.includes(workspaceId);
  return isBot || isDeactivated || isStranger || isElsewhere;
}

const MOST_CANDIDATES = 30;
const MOST_NAMED = 10;

/** Those who can give a role, as far as they are known by id. Ten at most. */
export async function listOwners(workspaceId: string, sources: RoleSources): Promise<readonly string[]> {
  return listRoleHolders('owner', undefined, workspaceId, sources);
}

/**
 * Those who could approve what somebody asked for about the server of this label, as far as they are known by id and
 * wherever they are: not who asked. Ten at most.
 */
export async function listApprovers(
  asked: { readonly workspaceId: string; readonly requesterId: string; readonly label: string },
  sources: RoleSources,
): Promise<readonly string[]> {
  const those = await listRoleHolders('manager', asked.label, asked.workspaceId, sources);
  return those.filter((userId) => userId !== asked.requesterId).slice(0, MOST_NAMED);
}

/**
 * Slack does not say who its admins are: those of them who gave somebody a role are known by that. Who may not do it is left out: guests in a group, people who were deactivated, roles that have ended.
 */
async function listRoleHolders(
  needed: Role,
  label: string | undefined,
  workspaceId: string,
  sources: RoleSources,
): Promise<readonly string[]> {
  const grants = await sources.store.grants.list(workspaceId);
  const fitting = grants.filter(({ role, pattern }) =>
    coversRole([{ role, pattern, source: 'named' }], needed, label),
  );
  const members = fitting.map(({ subjectKind, subjectId }) => {
    if (subjectKind === 'group') return sources.groups.listMembers(workspaceId, subjectId);
    return subjectKind === 'user' ? [subjectId] : [];
  });
  const granted = (await Promise.all(members)).flatMap((ids) => ids ?? []);
  const known = [...sources.settings.owners, ...granted, ...grants.map(({ grantedBy }) => grantedBy)];
  const candidates = [...new Set(known)].slice(0, MOST_CANDIDATES);
  const roles = await Promise.all(
    candidates.map((userId) => findRoles({ workspaceId, userId }, sources, needed)),
  );
  return candidates.filter((_, at) => coversRole(roles[at] ?? [], needed, label)).slice(0, MOST_NAMED + 1);
}

function toHold(grant: Grant): HeldRole {
  return { role: grant.role, pattern: grant.pattern, source: grant };
}

/** A channel's grant was looked up for this channel; a group's counts for its members. Undefined when nobody knows. */
async function countsFor(grant: Grant, actor: Actor, { groups }: RoleSources): Promise<boolean | undefined> {
  if (grant.subjectKind !== 'group') return true;
  const members = await groups.listMembers(actor.workspaceId, grant.subjectId);
  return members?.includes(actor.userId);
}
