import { FOLLOW_MS, type FollowedAction, type FollowedServer, lookAt } from '../../domain/followed-act.ts';
import { defineUseCase } from '../authorize/use-case.ts';

interface CheckInput {
  /** What was done to them. */
  readonly action: FollowedAction;
  readonly servers: readonly FollowedServer[];
}

/** Looks once, with a new request, at servers that something was done to. @throws Refusal `role_needed`, HostingError */
export const checkServers = defineUseCase({
  name: 'show',
  needs: 'viewer',
  effect: 'reads',
  run: async ({ action, servers }: CheckInput, context): Promise<readonly FollowedServer[]> => {
    const hosting = await context.hosting();
    const list = await hosting.fetchServers({ freshness: 'fresh' });
    const checked = servers.map((server) => {
      const found = list.servers.find(({ id }) => id === server.serverId);
      const label = found?.label ?? server.label;
      return lookAt({ ...server, label }, action, { found, isComplete: list.extent === 'whole' }, FOLLOW_MS);
    });
    for (const { label } of checked) await context.requireRoleFor(label);
    return checked;
  },
});
