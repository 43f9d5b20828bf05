import type { UserGroup } from '../authorize/ports.ts';
import { useCasesOver } from '../authorize/use-case.ts';
import type { AppPorts } from '../ports.ts';

const defineUseCase = useCasesOver<AppPorts>();

/** Lists the user groups that a role can be granted to; undefined without the scope, or when Slack does not answer. */
export const listGroups = defineUseCase({
  name: 'access_grant',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, { actor, ports }): Promise<readonly UserGroup[] | undefined> =>
    ports.groups.list(actor.workspaceId),
});
