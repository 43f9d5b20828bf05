import type { Server } from '../../domain/server.ts';
import { filterServers } from '../../domain/server-ref.ts';
import { defineUseCase } from '../authorize/use-case.ts';

/** Lists those of the account's servers that the actor may see and that match the filter, by label. */
export const listServers = defineUseCase({
  name: 'list',
  needs: 'viewer',
  effect: 'reads',
  run: async (input: { filter: string; onWait?: () => void }, context): Promise<Server[]> => {
    const hosting = await context.hosting();
    const servers = await hosting.listServers(input.onWait ? { onWait: input.onWait } : {});
    return filterServers(
      input.filter,
      servers.filter(({ label }) => context.covers(label)),
    );
  },
});
