import type { UserGroup } from '../authorize/ports.ts';
import { defineUseCase } from '../authorize/use-case.ts';

/** Lists the user groups that a role can be granted to; undefined without the scope, or when Slack does not answer. */
export const listGroups = defineUseCase({
  name: 'access_grant',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, { actor, app }): Promise<readonly UserGroup[] | undefined> =>
    app.groups.list(actor.workspaceId),
});
