import { isExpected, isRefusal } from '../../domain/errors.ts';
import type { ServerId } from '../../domain/ids.ts';
import type { PowerAction, Server } from '../../domain/server.ts';
import { isWhereLeads } from '../../domain/server-state.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { defineUseCase } from '../authorize/use-case.ts';
import type { HostingApi } from '../hosting-api.ts';

/** How long a server is watched after a power action. */
const WATCH_MS = 2 * MINUTE_MS;
const FIRST_WAIT_MS = 1500;
const LONGEST_WAIT_MS = 10_000;

/** What was seen of a server after a power action. */
export interface Watched {
  /** As the hosting API listed it last; undefined if it never did. */
  readonly server: Server | undefined;
  /** Whether that is where the action leads. */
  readonly isThere: boolean;
  /** Since the watch began. */
  readonly ms: number;
}

/**
 * Looks at a server for a user whose screen shows it, ever more rarely, until it is where the power action leads; gives up
 * after two minutes. Messages in channels are updated by the background (`follow-acts.ts`).
 */
export const watchServer = defineUseCase({
  name: 'show',
  needs: 'viewer',
  effect: 'reads',
  run: async ({ id, action }: { id: ServerId; action: PowerAction }, context): Promise<Watched> => {
    const { system } = context.app;
    const hosting = await context.hosting();
    const startedAt = system.elapsed();
    let server: Server | undefined;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 1.6, LONGEST_WAIT_MS)) {
      await system.sleep(waitMs);
      const seen = await look(id, hosting);
      if (typeof seen === 'object') await context.requireRoleFor(seen.label);
      server = typeof seen === 'object' ? seen : server;
      const ms = system.elapsed() - startedAt;
      const isThere = server !== undefined && isWhereLeads(action, server);
      if (isThere || seen === 'stopping' || ms + waitMs > WATCH_MS) return { server, isThere, ms };
    }
  },
});

/**
 * As background work: a watch must not delay users. Undefined when there is no answer, or no such server in it; `stopping`
 * when the app is about to end.
 */
async function look(id: ServerId, hosting: HostingApi): Promise<Server | 'stopping' | undefined> {
  try {
    const { servers } = await hosting.fetchServers({ urgency: 'background' });
    return servers.find((server) => server.id === id);
  } catch (error) {
    if (!isExpected(error)) throw error;
    return isRefusal(error, 'shutting_down') ? 'stopping' : undefined;
  }
}
