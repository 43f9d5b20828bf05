import type { StoredEntry } from '../../domain/audit-entry.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import type { Operation } from '../../domain/operation.ts';
import type { Server } from '../../domain/server.ts';
import { useCasesOver } from '../authorize/use-case.ts';
import { getServer, type ServerRef } from './find-server.ts';
import type { ServerPorts } from './ports.ts';

const defineUseCase = useCasesOver<ServerPorts>();

export interface ServerCard {
  readonly server: Server;
  /** What was paid for it with this app, newest first. */
  readonly operations: readonly Operation[];
  /** What was done to it with this app, newest first. */
  readonly history: readonly Pick<StoredEntry, 'at' | 'actorId' | 'action' | 'outcome'>[];
}

/** Shows one server with its history in this app. */
export const showServer = defineUseCase({
  name: 'show',
  needs: 'viewer',
  effect: 'reads',
  run: async (
    { ref, onWait }: { ref: ServerRef; onWait?: (() => void) | undefined },
    context,
  ): Promise<ServerCard> => {
    const server = await getServer(ref, context, omitUndefined({ onWait }));
    const { ports } = context;
    const { workspaceId } = context.actor;
    const [operations, entries] = await Promise.all([
      ports.ledger.listOfServer(workspaceId, server.id, 5),
      ports.audit.list({ workspaceId, serverId: server.id, limit: 20 }),
    ]);
    const history = entries.filter((entry) => entry.outcome !== 'started').slice(0, 5);
    return { server, operations, history };
  },
});
