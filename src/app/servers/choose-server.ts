import type { Role } from '../../domain/actor.ts';
import { isDeleted, type Server } from '../../domain/server.ts';
import { indexServers, type ServerIndex, searchServers } from '../../domain/server-index.ts';
import { defineUseCase, type UseCase } from '../authorize/use-case.ts';
import { listRecentIds, putRecentFirst } from './recent-servers.ts';

interface ChoosingInput {
  /** What was typed into a menu that searches, or nothing yet; absent where no menu searches. */
  readonly filter?: string;
}

type Choosing = UseCase<ChoosingInput, readonly Server[]>;

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
  return defineUseCase({
    name,
    needs,
    effect: 'reads',
    run: async ({ filter }: ChoosingInput, context) => {
      const { covers } = context;
      const hosting = await context.hosting();
      // While a user types, every letter asks again.
      const freshness = filter === undefined ? 'shared' : 'recent';
      const [{ servers }, recent] = await Promise.all([
        hosting.fetchServers({ freshness }),
        listRecentIds(context),
      ]);
      const isOffered = (server: Server) => covers(server.label) && !isDeleted(server);
      return putRecentFirst(searchServers(filter ?? '', indexOf(servers), isOffered), recent);
    },
  });
}

/** One list is searched many times: it is kept in memory as long as the list itself. */
const indexes = new WeakMap<readonly Server[], ServerIndex>();

function indexOf(servers: readonly Server[]): ServerIndex {
  const known = indexes.get(servers);
  if (known) return known;
  const index = indexServers(servers);
  indexes.set(servers, index);
  return index;
}
