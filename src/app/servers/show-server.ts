import type { Operation } from '../../domain/operation.ts';
import type { Server } from '../../domain/server.ts';
import { useCasesOver } from '../authorize/use-case.ts';
import type { AppPorts } from '../ports.ts';
import { getServer, type ServerRef } from './find-server.ts';

const defineUseCase = useCasesOver<AppPorts>();

export interface ServerCard {
  readonly server: Server;
  /** What was paid for it here, newest first. */
  readonly operations: readonly Operation[];
  /** What was done with it here, newest first. */
  readonly history: readonly { at: number; actorId: string; action: string; outcome: string }[];
}

/** Shows one server with what was done with it here. */
export const showServer = defineUseCase({
  name: 'show',
  needs: 'viewer',
  effect: 'reads',
  run: async (input: { ref: ServerRef; onWait?: () => void }, context): Promise<ServerCard> => {
    const server = await getServer(input.ref, context, input.onWait ? { onWait: input.onWait } : {});
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
