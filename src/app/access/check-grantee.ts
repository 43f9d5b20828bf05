import type { Grantee } from '../../domain/access.ts';
import type { Actor } from '../../domain/actor.ts';
import { Refusal, type RefusalDetails } from '../../domain/errors.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { cannotHoldRole } from '../authorize/find-roles.ts';
import type { UseCaseContext } from '../authorize/use-case.ts';
import type { AppContext } from '../ports.ts';

/**
 * Checks whether a role can be granted to this subject. Users and channels that can't be looked up are accepted, since
 * their IDs come from Slack. A group whose members can't be read is refused, since its grant would have no effect.
 * So is a group or a channel where the app can't tell guests and outsiders from members (scope `users:read`).
 * @throws Refusal `no_grantee`
 */
export async function checkGrantee(
  grantee: Grantee,
  { actor, app }: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<void> {
  const { subjectKind, subjectId } = grantee;
  const problem =
    (await findProblem[subjectKind](subjectId, actor.workspaceId, app)) ??
    (subjectKind === 'user' ? undefined : await findBlindness(actor, app));
  if (problem) throw new Refusal('no_grantee', { problem });
}

/** Roles of groups and channels count for members alone: where the app can't tell who is one, they don't count. */
async function findBlindness(actor: Actor, { users }: AppContext): Promise<Problem | undefined> {
  return (await users.exists(actor.workspaceId, actor.userId)) === 'hidden' ? 'no_user_scope' : undefined;
}

type Problem = RefusalDetails['no_grantee']['problem'];
type FindProblem = (id: string, workspaceId: WorkspaceId, app: AppContext) => Promise<Problem | undefined>;

const findProblem: Readonly<Record<Grantee['subjectKind'], FindProblem>> = {
  user: async (id, workspaceId, { users }) => {
    const user = await users.find(workspaceId, id);
    if (!user) {
      const exists = await users.exists(workspaceId, id);
      return exists === 'no' || exists === 'invisible' ? 'unknown_user' : undefined;
    }
    if (user.isBot) return 'bot';
    if (user.isDeactivated) return 'deactivated';
    return cannotHoldRole(user, workspaceId) ? 'stranger' : undefined;
  },
  group: async (id, workspaceId, { groups }) => {
    const all = await groups.list(workspaceId);
    // Without the scope the member list is empty rather than unknown.
    if (!all) return (await groups.listMembers(workspaceId, id)) ? 'no_group_scope' : 'slack_silent';
    const group = all.find((known) => known.id === id);
    if (!group) return 'unknown_group';
    return group.isDisabled ? 'disabled_group' : undefined;
  },
  channel: async (id, workspaceId, { channels }) => {
    const seen = await channels.look(workspaceId, id);
    if (seen === 'archived') return 'archived_channel';
    return seen === 'unknown' ? 'unknown_channel' : undefined;
  },
};
