import { coversRole } from '../../domain/access.ts';
import type { Absence } from '../../domain/left-password.ts';
import type { Channels } from '../access/ports.ts';
import { cannotHoldRole, lookUpRoles, type RolePorts } from '../authorize/find-roles.ts';
import type { FreshOption, SlackUser, Users } from '../authorize/ports.ts';
import type { HeldPassword } from './ports.ts';

export interface StandingPorts extends RolePorts {
  readonly channels: Pick<Channels, 'hasMember'>;
}

/** Whether the creator of a server is still there and has a role for it; unknown where only Slack could tell, and didn't. */
export type Standing = Absence | 'there' | 'unknown';

type Created = Pick<HeldPassword, 'workspaceId' | 'creatorId' | 'label'>;

/**
 * Finds out whether the creator of each server has left or has no role that covers it. Nothing that Slack doesn't say counts
 * as proof. Of users whom Slack doesn't show to the app, only the roles that are stored here tell: no others count for them.
 */
export async function findStandings(
  created: readonly Created[],
  ports: StandingPorts,
  options: FreshOption = { isFresh: true },
): Promise<readonly Standing[]> {
  const asked = { ...ports, users: askOnce(ports.users) };
  return Promise.all(created.map((each) => findStanding(each, asked, options)));
}

async function findStanding(created: Created, ports: StandingPorts, options: FreshOption): Promise<Standing> {
  const { workspaceId, creatorId: userId, label } = created;
  const [user, exists, roles] = await Promise.all([
    ports.users.find(workspaceId, userId, options),
    ports.users.exists(workspaceId, userId, options),
    lookUpRoles({ workspaceId, userId }, ports, undefined, options),
  ]);
  if (user && cannotHoldRole(user, workspaceId))
    return user.isDeactivated ? 'creator_deactivated' : 'creator_not_member';
  if (!user && exists === 'no') return 'creator_not_member';
  if (!user && exists !== 'hidden' && exists !== 'invisible') return 'unknown';
  if (coversRole(roles.held, 'viewer', label)) return 'there';
  if (coversRole(roles.possible, 'viewer', label)) return 'unknown';
  return user ? findStandingInChannels(created, user, ports) : 'creator_without_role';
}

/** The role of a channel counts while its creator is a member there, wherever they are acting just now. */
async function findStandingInChannels(
  { workspaceId, creatorId, label }: Created,
  { isGuest }: SlackUser,
  { channels, grants, system }: StandingPorts,
): Promise<Standing> {
  if (isGuest) return 'creator_without_role';
  const now = system.now();
  const covering = (await grants.list(workspaceId)).filter(
    ({ subjectKind, role, pattern, until }) =>
      subjectKind === 'channel' &&
      (until ?? now + 1) > now &&
      coversRole([{ role, pattern, source: 'named' }], 'viewer', label),
  );
  const ids = new Set(covering.map(({ subjectId }) => subjectId));
  const answers = await Promise.all([...ids].map((id) => channels.hasMember(workspaceId, id, creatorId)));
  if (answers.includes(true)) return 'there';
  return answers.includes(undefined) ? 'unknown' : 'creator_without_role';
}

/** Asks Slack about each user once, so that all of one answer is about the same moment. For one workspace. */
function askOnce(users: Users): Users {
  const found = new Map<string, ReturnType<Users['find']>>();
  const existing = new Map<string, ReturnType<Users['exists']>>();
  return {
    find: (workspaceId, userId, options) => {
      const answer = found.get(userId) ?? users.find(workspaceId, userId, options);
      found.set(userId, answer);
      return answer;
    },
    exists: (workspaceId, userId, options) => {
      const answer = existing.get(userId) ?? users.exists(workspaceId, userId, options);
      existing.set(userId, answer);
      return answer;
    },
  };
}
