import { coversRole, type Grant, type HeldRole, type HeldRoles } from '../../domain/access.ts';
import { type Actor, type Role, roleCovers } from '../../domain/actor.ts';
import { Refusal } from '../../domain/errors.ts';
import type { UserId, WorkspaceId } from '../../domain/ids.ts';
import { EVERY_SERVER } from '../../domain/label-pattern.ts';
import type { System } from '../../system.ts';
import type { Grants } from '../access/grants-port.ts';
import type { Groups, SlackUser, Users } from './ports.ts';

/** What roles are read from. */
export interface RolePorts {
  readonly system: System;
  readonly grants: Pick<Grants, 'listFor' | 'list'>;
  readonly users: Users;
  readonly groups: Groups;
  /** Who the operator named as owners of a workspace (`OWNERS`). */
  readonly ownersOf: (workspaceId: WorkspaceId) => readonly UserId[];
}

/** What is known of somebody here and now; `possible` is what they may hold besides, since Slack did not answer. */
export interface KnownRoles {
  readonly held: HeldRoles;
  readonly possible: HeldRoles;
}

/** All that somebody may do here and now (docs/design.md 3): no answer of Slack gives nobody anything. */
export async function findRoles(actor: Actor, ports: RolePorts, enough?: Role): Promise<HeldRoles> {
  return (await lookUpRoles(actor, ports, (own) => coversAllServers(own, enough))).held;
}

/**
 * Whether somebody may still do something to the server of this label, where it is done in their name without them.
 * @throws Refusal `identity_unknown` when an answer that Slack owes could make it a yes
 */
export async function hasRole(actor: Actor, needed: Role, label: string, ports: RolePorts): Promise<boolean> {
  const { held, possible } = await lookUpRoles(actor, ports);
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
  ports: RolePorts,
  isEnough: (own: HeldRoles) => boolean = () => false,
): Promise<KnownRoles> {
  const { system } = ports;
  if (!(await belongsToWorkspace(actor, ports))) return NO_ROLES;
  const named = ports.ownersOf(actor.workspaceId).includes(actor.userId) ? [OWNER_BY_NAME] : [];
  const grants = await ports.grants.listFor(actor.workspaceId, actor, system.now());
  const own: HeldRoles = [
    ...named,
    ...grants.filter(({ subjectKind }) => subjectKind === 'user').map(toHold),
  ];
  if (isEnough(own)) return { held: own, possible: [] };
  const others = grants.filter(({ subjectKind }) => subjectKind !== 'user');
  const { users } = ports;
  // All at once: a submission has to be answered within 3 s.
  const [person, exists, counts] = await Promise.all([
    users.find(actor.workspaceId, actor.userId),
    users.exists(actor.workspaceId, actor.userId),
    Promise.all(others.map((grant) => countsFor(grant, actor, ports))),
  ]);
  const holdsThat = (count: boolean | undefined) =>
    others.filter((_, at) => counts[at] === count).map(toHold);
  if (!person) {
    const possible = [OWNER_AS_ADMIN, ...holdsThat(true), ...holdsThat(undefined)];
    return { held: own, possible: exists === 'no' || exists === 'hidden' ? [] : possible };
  }
  if (cannotHoldRole(person, actor.workspaceId)) return NO_ROLES;
  if (person.isGuest) return { held: own, possible: [] };
  const held = [...(person.isAdmin ? [OWNER_AS_ADMIN] : []), ...own, ...holdsThat(true)];
  return { held, possible: holdsThat(undefined) };
}

/** Whether it reaches that role for every server, so that nothing could add to it. */
export function coversAllServers(roles: HeldRoles, needed: Role | undefined): boolean {
  if (needed === undefined) return false;
  return roles.some(({ role, pattern }) => roleCovers(role, needed) && pattern === EVERY_SERVER);
}

export const NO_ROLES: KnownRoles = { held: [], possible: [] };

/** For a program on the machine itself. */
export const ALL_ROLES: KnownRoles = {
  held: [{ role: 'owner', pattern: EVERY_SERVER, source: 'named' }],
  possible: [],
};

const OWNER_BY_NAME: HeldRole = { role: 'owner', pattern: EVERY_SERVER, source: 'named' };
const OWNER_AS_ADMIN: HeldRole = { role: 'owner', pattern: EVERY_SERVER, source: 'admin' };

/**
 * Tells whether somebody belongs to the workspace. Slack names another team in what people of other organisations
 * press (Slack Connect), and in what members of an Enterprise Grid press who are at home in another workspace of it:
 * only those whom Slack itself calls members of this one are let through.
 */
export async function belongsToWorkspace(
  actor: Actor,
  { users }: Pick<RolePorts, 'users'>,
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

function toHold(grant: Grant): HeldRole {
  return { role: grant.role, pattern: grant.pattern, source: grant };
}

/** A channel's grant was looked up for this channel; a group's counts for its members. Undefined when nobody knows. */
async function countsFor(grant: Grant, actor: Actor, { groups }: RolePorts): Promise<boolean | undefined> {
  if (grant.subjectKind !== 'group') return true;
  const members = await groups.listMembers(actor.workspaceId, grant.subjectId);
  return members?.includes(actor.userId);
}
