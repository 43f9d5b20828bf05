import { omitUndefined } from '../../domain/omit-undefined.ts';
import type { Server } from '../../domain/server.ts';
import { filterServersInSteps } from '../../domain/server-ref.ts';
import { filterInSteps } from '../../domain/steps.ts';
import { useCasesOver } from '../authorize/use-case.ts';
import type { OnWait } from '../hosting-api.ts';
import type { ServerPorts } from './ports.ts';

const defineUseCase = useCasesOver<ServerPorts>();

/** Lists the account's servers that the actor may see and that match the filter, sorted by label. */
export const listServers = defineUseCase({
  name: 'list',
  needs: 'viewer',
  effect: 'reads',
  run: async (
    { filter, onWait }: { filter: string; onWait?: OnWait | undefined },
    context,
  ): Promise<Server[]> => {
    const hosting = await context.hosting();
    const servers = await hosting.listServers(omitUndefined({ onWait }));
    const seen = await context.runInSteps(filterInSteps(servers, ({ label }) => context.covers(label)));
    return context.runInSteps(filterServersInSteps(filter, seen));
  },
});
