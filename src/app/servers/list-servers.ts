import type { Server } from '../../domain/server.ts';
import { filterServers } from '../../domain/server-ref.ts';
import { useCasesOver } from '../authorize/use-case.ts';
import type { AppPorts } from '../ports.ts';

const defineUseCase = useCasesOver<AppPorts>();

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
