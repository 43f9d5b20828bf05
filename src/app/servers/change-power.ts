import { HostingError } from '../../domain/errors.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import type { PowerAction, Server } from '../../domain/server.ts';
import { type UseCase, useCasesOver } from '../authorize/use-case.ts';
import type { HostingApi } from '../hosting-api.ts';
import { getServer, type ServerRef, subjectOf } from './find-server.ts';
import type { ServerPorts } from './ports.ts';

const defineUseCase = useCasesOver<ServerPorts>();

export interface PowerChange {
  readonly server: Server;
  /** The state that the hosting API reports now; absent when it did not say. */
  readonly state?: string;
  /** No answer came: the action may have been carried out, and `state` is what the list showed right after. */
  readonly isUnconfirmed: boolean;
}

interface PowerInput {
  readonly ref: ServerRef;
  readonly onWait?: (() => void) | undefined;
}

/** Start, stop and reboot, each a use case with its own name in the audit. */
export const changePower: Readonly<Record<PowerAction, UseCase<PowerInput, PowerChange, ServerPorts>>> = {
  start: definePower('start'),
  stop: definePower('stop'),
  reboot: definePower('reboot'),
};

function definePower(action: PowerAction): UseCase<PowerInput, PowerChange, ServerPorts> {
  return defineUseCase({
    name: action,
    needs: 'operator',
    effect: 'changes',
    subject: ({ ref }) => subjectOf(ref),
    run: async ({ ref, onWait }: PowerInput, context): Promise<PowerChange> => {
      const waiting = omitUndefined({ onWait });
      const server = await getServer(ref, context, waiting);
      const hosting = await context.hosting();
      try {
        const { state } = await hosting.changePower(action, server.id, waiting);
        return { server, ...omitUndefined({ state: state || undefined }), isUnconfirmed: false };
      } catch (error) {
        if (!isUnanswered(error)) throw await withState(error, server, hosting);
        const { code } = error;
        context.ports.log.warn('a power action has no answer', { action, serverId: server.id, code });
        const state = (await findNow(server, hosting))?.state;
        return { server, ...omitUndefined({ state }), isUnconfirmed: true };
      }
    },
  });
}

/** `wrong_state` alone does not help a user who does not know the server's state. */
async function withState(error: unknown, server: Server, hosting: HostingApi): Promise<unknown> {
  if (!(error instanceof HostingError) || error.code !== 'wrong_state') return error;
  const { state } = (await findNow(server, hosting)) ?? server;
  return new HostingError(error.code, error.moneyMoved, { ...error.details, state });
}

/** Tells a failure that does not say whether the work was done. */
export function isUnanswered(error: unknown): error is HostingError {
  return (
    error instanceof HostingError &&
    (error.code === 'no_answer' || error.code === 'unreadable_answer' || error.code === 'unknown_code')
  );
}

/** The server in a fresh list, after an action without an answer; undefined if the list can't be read either. */
async function findNow(server: Server, hosting: HostingApi): Promise<Server | undefined> {
  try {
    const servers = await hosting.listServers({ freshness: 'fresh' });
    return servers.find(({ id }) => id === server.id);
  } catch {
    return undefined;
  }
}
