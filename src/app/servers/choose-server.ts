import type { Role } from '../../domain/actor.ts';
import { isDeleted, type Server } from '../../domain/server.ts';
import { filterServersInSteps } from '../../domain/server-ref.ts';
import { type UseCase, useCasesOver } from '../authorize/use-case.ts';
import type { ServerPorts } from './ports.ts';
import { listRecentIds, sortRecentFirst } from './recent-servers.ts';

interface ChoosingInput {
  /** What was typed into a menu that searches; absent or empty for all. */
  readonly filter?: string;
}

type Choosing = UseCase<ChoosingInput, readonly Server[], ServerPorts>;

/** What a server is chosen for. */
type ChosenFor = 'show' | 'start' | 'stop' | 'reboot' | 'renew' | 'delete';

/** The servers among which a user chooses when a command names none: recently used first. Each command's own permission. */
export const chooseServer = {
  show: defineChoosing('show', 'viewer'),
  start: defineChoosing('start', 'operator'),
  stop: defineChoosing('stop', 'operator'),
  reboot: defineChoosing('reboot', 'operator'),
  renew: defineChoosing('renew', 'manager'),
  delete: defineChoosing('delete', 'manager'),
} as const satisfies Readonly<Record<ChosenFor, Choosing>>;

function defineChoosing(name: ChosenFor, needs: Role): Choosing {
  return useCasesOver<ServerPorts>()({
    name,
    needs,
    effect: 'reads',
    run: async ({ filter = '' }: ChoosingInput, context) => {
      const hosting = await context.hosting();
      const [servers, recent] = await Promise.all([hosting.listServers(), listRecentIds(context)]);
      const offered = servers.filter((server) => context.covers(server.label) && !isDeleted(server));
      const matching =
        filter === '' ? offered : await context.runInSteps(filterServersInSteps(filter, offered));
      return sortRecentFirst(matching, recent);
    },
  });
}
