import { Refusal } from '../../domain/errors.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import { compareServers, type Server } from '../../domain/server.ts';
import { isReconnectedSince } from '../account/hosting-since.ts';
import { type UseCaseContext, useCasesOver } from '../authorize/use-case.ts';
import type { AppPorts } from '../ports.ts';
import { notifyOperation } from './notify-operation.ts';
import { auditOf } from './run-operation.ts';

const defineUseCase = useCasesOver<AppPorts>();

export interface UnconfirmedOrder {
  readonly operation: Operation;
  /** Servers that may be the one: those that nobody here made and that were not there before. */
  readonly candidates: readonly Server[];
  /** The key was set after it was confirmed: the candidates may be another account's. */
  readonly isConnectedAnew?: boolean;
}

/** What a person has seen: this server, or that it was done in an account that is not connected any more, or nothing. */
export interface Decision {
  readonly operationId: string;
  readonly serverId?: number;
  readonly isDoneElsewhere?: boolean;
}

/**
 * What a person has to decide about an operation whose evidence contradicts itself.
 * @throws Refusal `doubt_over` when it is decided already
 */
export const reviewUnconfirmed = defineUseCase({
  name: 'decide',
  needs: 'manager',
  effect: 'reads',
  run: async (input: { operationId: string }, context): Promise<UnconfirmedOrder> => {
    const operation = await getUnconfirmed(input.operationId, context);
    const hosting = await context.hosting();
    const servers = await hosting.listServers({ freshness: 'fresh' });
    const held = await context.ports.apiKeys.find(operation.workspaceId);
    return {
      operation,
      candidates: await listCandidates(operation, servers, context),
      isConnectedAnew: held !== undefined && isReconnectedSince(held, operation.createdAt),
    };
  },
});

/**
 * Ends an operation in doubt by what a person has seen on the account page.
 * Money effect: none; it only says what has happened.
 * @throws Refusal `doubt_over`, `unknown_server`
 */
export const decideUnconfirmed = defineUseCase({
  name: 'decide',
  needs: 'manager',
  effect: 'changes',
  subject: ({ operationId, serverId }) => ({ operationId, ...(serverId === undefined ? {} : { serverId }) }),
  run: async (input: Decision, context): Promise<void> => {
    const operation = await getUnconfirmed(input.operationId, context);
    const { ports, actor } = context;
    const { ledger } = ports;
    context.setSubject({ label: labelOf(operation.purchase) });
    const at = ports.system.now();
    const audit = (outcome: 'done' | 'failed') => ({
      ...auditOf(operation, ports, outcome, { code: 'decided' }),
      actorId: actor.userId,
    });
    if (input.isDoneElsewhere) {
      await ledger.settle(operation.id, { at }, audit('done'));
    } else if (input.serverId === undefined) {
      await ledger.refuse(operation.id, { at, reason: 'decided_not_done' }, audit('failed'));
    } else {
      const server = await getCandidate(operation, input.serverId, context);
      const { id: serverId, paidUntil } = server;
      const settled = { at, serverId, ...(paidUntil === undefined ? {} : { paidUntil }) };
      await ledger.settle(operation.id, settled, audit('done'));
    }
    await notifyOperation(operation.id, ports);
  },
});

async function getUnconfirmed(
  operationId: string,
  { actor, ports, requireRoleFor }: UseCaseContext<AppPorts>,
): Promise<Operation> {
  const operation = await ports.ledger.find(operationId);
  const isOpen = operation?.workspaceId === actor.workspaceId && operation.needsDecision;
  if (!isOpen || operation.state !== 'in_doubt') throw new Refusal('doubt_over', {});
  await requireRoleFor(labelOf(operation.purchase));
  return operation;
}

async function getCandidate(
  operation: Operation,
  serverId: number,
  context: UseCaseContext<AppPorts>,
): Promise<Server> {
  const hosting = await context.hosting();
  const servers = await hosting.listServers({ freshness: 'fresh' });
  const candidates = await listCandidates(operation, servers, context);
  const server = candidates.find(({ id }) => id === serverId);
  if (!server) throw new Refusal('unknown_server', { typed: String(serverId) });
  return server;
}

/** New servers for a create, the server itself for a renewal. */
async function listCandidates(
  { purchase, knownIds, workspaceId }: Operation,
  servers: readonly Server[],
  { ports, covers }: UseCaseContext<AppPorts>,
): Promise<readonly Server[]> {
  if (purchase.kind === 'renew') return servers.filter(({ id }) => id === purchase.serverId);
  // What is decided says whose server it is and what it costs: that is only for whoever it is covered for.
  const fresh = servers.filter(({ id, label }) => !knownIds.includes(id) && covers(label));
  const ids = fresh.map(({ id }) => id);
  const held = await ports.apiKeys.find(workspaceId);
  const othersIds = await ports.ledger.listSettledIds(workspaceId, ids, held?.setAt);
  return fresh.filter(({ id }) => !othersIds.includes(id)).sort(compareServers);
}
