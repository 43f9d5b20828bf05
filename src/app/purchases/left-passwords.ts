import { coversRole } from '../../domain/access.ts';
import type { Actor } from '../../domain/actor.ts';
import type { AuditSubject } from '../../domain/audit-entry.ts';
import type { UserId } from '../../domain/ids.ts';
import type { Absence, LeftPassword } from '../../domain/left-password.ts';
import { coversAllServers, findRoles, lookUpRoles, type RolePorts } from '../authorize/find-roles.ts';
import type { FreshOption } from '../authorize/ports.ts';
import { findStandings, type Standing, type StandingPorts } from './find-standing.ts';
import type { HeldPassword } from './ports.ts';

/** What is known of a stored root password without opening it. */
export type Unopened = Omit<HeldPassword, 'password'>;

/** At most this many users are looked up in Slack for one request. */
const MOST_LOOKED_UP = 20;

/** Which of these passwords an owner can erase; `unknownIds` are creators about whom Slack didn't answer. */
export async function findLeft(
  held: readonly Unopened[],
  ports: StandingPorts,
  options?: FreshOption,
): Promise<{ readonly left: readonly LeftPassword[]; readonly unknownIds: readonly UserId[] }> {
  const creators = [...new Set(held.map(({ creatorId }) => creatorId))].slice(0, MOST_LOOKED_UP);
  const looked = held.filter(({ creatorId }) => creators.includes(creatorId));
  const standings = await findStandings(looked, ports, options);
  return {
    left: looked.flatMap((each, at) => toLeft(each, standings[at])),
    unknownIds: looked.filter((_, at) => standings[at] === 'unknown').map(({ creatorId }) => creatorId),
  };
}

/** For owners: the passwords that they can erase, by what Slack has said lately. Nothing for anyone else. */
export async function listLeftPasswords(
  held: readonly Unopened[],
  { actor, ports }: { readonly actor: Actor; readonly ports: StandingPorts },
): Promise<readonly LeftPassword[]> {
  const others = held.filter(({ creatorId }) => creatorId !== actor.userId);
  if (others.length === 0 || !(await isOwnerByCache(actor, ports))) return [];
  return (await findLeft(others, ports, {})).left;
}

/**
 * Whether the actor is an owner, by what Slack says now. It is asked afresh only about users who seem to be owners: others
 * could use up its rate limit.
 */
export async function isOwner(actor: Actor, ports: RolePorts): Promise<boolean> {
  if (!(await isOwnerByCache(actor, ports))) return false;
  const isEnough = (own: Parameters<typeof coversAllServers>[0]) => coversAllServers(own, 'owner');
  return coversRole((await lookUpRoles(actor, ports, isEnough, { isFresh: true })).held, 'owner');
}

async function isOwnerByCache(actor: Actor, ports: RolePorts): Promise<boolean> {
  return coversRole(await findRoles(actor, ports, 'owner'), 'owner');
}

/** The subject of the audit entry: the label, by which the entry is found, followed by the creator's ID. */
export function subjectOfErasure({ operationId, serverId, label, creatorId }: Unopened): AuditSubject {
  return { operationId, serverId, label: `${label} ${creatorId}`, searchLabel: label };
}

function toLeft(held: Unopened, standing: Standing | undefined): LeftPassword[] {
  if (!isAbsence(standing)) return [];
  const { operationId, serverId, label, creatorId } = held;
  return [{ operationId, serverId, label, creatorId, absence: standing }];
}

function isAbsence(standing: Standing | undefined): standing is Absence {
  return standing !== undefined && standing !== 'there' && standing !== 'unknown';
}
