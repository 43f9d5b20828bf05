import type { Grantee } from '../../domain/access.ts';
import { Refusal } from '../../domain/errors.ts';
import { cannotHoldRole } from '../authorize/find-roles.ts';
import type { UseCaseContext } from '../authorize/use-case.ts';
import type { AppPorts } from '../ports.ts';

/**
 * Looks whether a role can be given to this subject. Persons and channels that Slack does not tell of are taken as
 * they are: their ids come from Slack. A group whose members can't be read would open nothing, so it is refused.
 * @throws Refusal `no_grantee`
 */
export async function checkGrantee(
  grantee: Grantee,
  { actor, ports }: Pick<UseCaseContext<AppPorts>, 'actor' | 'ports'>,
): Promise<void> {
  const problem = await findProblem[grantee.subjectKind](grantee.subjectId, actor.workspaceId, ports);
  if (problem) throw new Refusal('no_grantee', { problem });
}

type Problem = Refusal<'no_grantee'>['details']['problem'];

const findProblem: Readonly<
  Record<
    Grantee['subjectKind'],
    (
      id: string,
      workspaceId: string,
      ports: UseCaseContext<AppPorts>['ports'],
    ) => Promise<Problem | undefined>
  >
> = {
  user: async (id, workspaceId, { users }) => {
    const person = await users.find(workspaceId, id);
    if (!person) return (await users.exists(workspaceId, id)) === 'no' ? 'unknown_user' : undefined;
    if (person.isBot) return 'bot';
    if (person.isDeactivated) return 'deactivated';
    return cannotHoldRole(person, workspaceId) ? 'stranger' : undefined;
  },
  group: async (id, workspaceId, { groups }) => {
    const all = await groups.list(workspaceId);
    // Without the scope nobody is in any group, which is an answer.
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
