import { HostingError } from '../../domain/errors.ts';
import type { PowerAction, Server } from '../../domain/server.ts';
import { type UseCase, type UseCaseContext, useCasesOver } from '../authorize/use-case.ts';
import type { HostingApi } from '../hosting-api.ts';
import type { AppPorts } from '../ports.ts';
import { getServer, pickServer, type ServerRef } from './find-server.ts';

const defineUseCase = useCasesOver<AppPorts>();

export interface PowerChange {
  readonly server: Server;
  /** What the service says now; absent when it did not say. */
  readonly state?: string;
  /** The answer never came: it may have happened, and `state` is what a look right after showed. */
  readonly isInDoubt: boolean;
}

interface PowerInput {
  readonly ref: ServerRef;
  readonly onWait?: () => void;
}

/** Start, stop and reboot, each a use case of its own name for the audit. */
export const changePower: Readonly<Record<PowerAction, UseCase<PowerInput, PowerChange, AppPorts>>> = {
  start: definePower('start'),
  stop: definePower('stop'),
  reboot: definePower('reboot'),
};

function definePower(action: PowerAction): UseCase<PowerInput, PowerChange, AppPorts> {
  return defineUseCase({
    name: action,
    needs: 'operator',
    effect: 'changes',
    subject: ({ ref }) => ('id' in ref ? { serverId: ref.id } : { label: ref.typed }),
    run: async (input: PowerInput, context: UseCaseContext<AppPorts>) => {
      const waiting = input.onWait ? { onWait: input.onWait } : {};
      const server = await getServer(input.ref, context, waiting);
      const hosting = await context.hosting();
      try {
        const { state } = await hosting.changePower(action, server.id, waiting);
        return { server, ...(state === '' ? {} : { state }), isInDoubt: false };
      } catch (error) {
        if (!isUnanswered(error)) throw await withState(error, server, hosting);
        context.ports.log.warn('a power action has no answer', {
          action,
          serverId: server.id,
          code: error.code,
        });
        const seen = await lookAgain(server, hosting);
        return { server, ...(seen ? { state: seen.state } : {}), isInDoubt: true };
      }
    },
  });
}

/** "That does not suit its state" helps nobody who does not know the state. */
async function withState(error: unknown, server: Server, hosting: HostingApi): Promise<unknown> {
  if (!(error instanceof HostingError) || error.code !== 'wrong_state') return error;
  const { state } = (await lookAgain(server, hosting)) ?? server;
  return new HostingError(error.code, error.moneyMoved, { ...error.details, state });
}

/** Tells a failure that says nothing of whether the work was done. */
export function isUnanswered(error: unknown): error is HostingError {
  return (
    error instanceof HostingError &&
    (error.code === 'no_answer' || error.code === 'unreadable_answer' || error.code === 'unknown_code')
  );
}

/** One fresh look at a server after an answer that did not come; undefined when there is none either. */
export async function lookAgain(server: Server, hosting: HostingApi): Promise<Server | undefined> {
  try {
    return pickServer({ id: server.id }, await hosting.listServers({ freshness: 'fresh' }));
  } catch {
    return undefined;
  }
}
