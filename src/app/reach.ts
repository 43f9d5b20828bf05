import { type Grant, type Hold, type Reach, reaches } from '../domain/access.ts';
import { type Actor, type Role, roleCovers } from '../domain/actor.ts';
import { EVERY_SERVER } from '../domain/label-pattern.ts';
import type { Person } from './access-ports.ts';
import type { Services } from './services.ts';

type Sources = Pick<Services, 'store' | 'people' | 'groups' | 'settings' | 'system'>;

/**
 * All that somebody may do here and now (DESIGN 3). Slack is asked only when what is known here does not suffice for
 * the role that is wanted: at three in the morning a grant by name opens the door even while Slack's directory is down.
 */
export async function findReach(actor: Actor, sources: Sources, enough?: Role): Promise<Reach> {
  const { store, settings, system } = sources;
  if (!(await isOfHere(actor, sources))) return [];
  const named = settings.owners.includes(actor.userId) ? [OWNER_BY_NAME] : [];
  const grants = await store.grants.listFor(actor.workspaceId, actor, system.now());
  const own: Reach = [...named, ...grants.filter(({ subjectKind }) => subjectKind === 'user').map(toHold)];
  if (enough && own.some(({ role, pattern }) => roleCovers(role, enough) && pattern === EVERY_SERVER))
    return own;
  const others = grants.filter(({ subjectKind }) => subjectKind !== 'user');
  // Both at once: a submission has to be answered within 3 s.
  const [person, counts] = await Promise.all([
    sources.people.find(actor.workspaceId, actor.userId),
    Promise.all(others.map((grant) => countsFor(grant, actor, sources))),
  ]);
  if (!person) return own;
  if (isRefused(person, actor.workspaceId)) return [];
  if (person.isGuest) return own;
  return [
    ...(person.isAdmin ? [OWNER_AS_ADMIN] : []),
    ...own,
    ...others.filter((_, at) => counts[at]).map(toHold),
  ];
}

const OWNER_BY_NAME: Hold = { role: 'owner', pattern: EVERY_SERVER, why: 'named' };
const OWNER_AS_ADMIN: Hold = { role: 'owner', pattern: EVERY_SERVER, why: 'admin' };

/**
 * Tells whether somebody belongs to the workspace. Slack names another team in what people of other organisations
 * press (Slack Connect), and in what members of an Enterprise Grid press who are at home in another workspace of it:
 * only those whom Slack itself calls members of this one are let through.
 */
export async function isOfHere(actor: Actor, { people }: Pick<Sources, 'people'>): Promise<boolean> {
  if (actor.homeTeamId === undefined || actor.homeTeamId === actor.workspaceId) return true;
  const person = await people.find(actor.workspaceId, actor.userId);
  return person !== undefined && !person.isStranger && person.teamIds.includes(actor.workspaceId);
}

/** Tells whether nobody may give this person a role, by what Slack says of them. */
export function isRefused(person: Person, workspaceId: string): boolean {
  const { isBot, isDeactivated, isStranger, teamIds } = person;
  const isElsewhere = teamIds.length > 0 && !teamIds.includes(workspaceId);
  return isBot || isDeactivated || isStranger || isElsewhere;
}

const MOST_CANDIDATES = 30;
const MOST_NAMED = 10;

/** Those who can give a role, as far as they are known by id. Ten at most. */
export async function listOwners(workspaceId: string, sources: Sources): Promise<readonly string[]> {
  return listThose('owner', undefined, workspaceId, sources);
}

/**
 * Those who could approve what somebody asked for about the server of this label, as far as they are known by id and
 * wherever they are: not who asked. Ten at most.
 */
export async function listApprovers(
  asked: { readonly workspaceId: string; readonly requesterId: string; readonly label: string },
  sources: Sources,
): Promise<readonly string[]> {
  const those = await listThose('manager', asked.label, asked.workspaceId, sources);
  return those.filter((userId) => userId !== asked.requesterId).slice(0, MOST_NAMED);
}

/**
 * Slack does not say who its admins are: those of them who gave somebody a role, or set the API key, are known by
 * that. Who may not do it is left out: guests in a group, people who were deactivated, roles that have ended.
 */
async function listThose(
  needed: Role,
  label: string | undefined,
  workspaceId: string,
  sources: Sources,
): Promise<readonly string[]> {
  const grants = await sources.store.grants.list(workspaceId);
  const fitting = grants.filter(({ role, pattern }) =>
    reaches([{ role, pattern, why: 'named' }], needed, label),
  );
  const members = fitting.map(({ subjectKind, subjectId }) => {
    if (subjectKind === 'group') return sources.groups.listMembers(workspaceId, subjectId);
    return subjectKind === 'user' ? [subjectId] : [];
  });
  const granted = (await Promise.all(members)).flatMap((ids) => ids ?? []);
  const known = [...sources.settings.owners, ...granted, ...grants.map(({ grantedBy }) => grantedBy)];
  const candidates = [...new Set(known)].slice(0, MOST_CANDIDATES);
  const reach = await Promise.all(
    candidates.map((userId) => findReach({ workspaceId, userId }, sources, needed)),
  );
  return candidates.filter((_, at) => reaches(reach[at] ?? [], needed, label)).slice(0, MOST_NAMED + 1);
}

function toHold(grant: Grant): Hold {
  return { role: grant.role, pattern: grant.pattern, why: grant };
}

/** A channel's grant was looked up for this channel; a group's counts for its members. */
async function countsFor(grant: Grant, actor: Actor, { groups }: Sources): Promise<boolean> {
  if (grant.subjectKind !== 'group') return true;
  const members = await groups.listMembers(actor.workspaceId, grant.subjectId);
  return members?.includes(actor.userId) ?? false;
}
