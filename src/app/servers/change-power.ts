import { HostingError, isRefusal, Refusal } from '../../domain/errors.ts';
import type { PowerAction, Server } from '../../domain/server.ts';
import { defineUseCase, type UseCase } from '../authorize/use-case.ts';
import type { AcceptedPower, CallOptions, HostingApi, OnWait, Urgency } from '../hosting-api.ts';
import type { AppContext } from '../ports.ts';
import { checkPower } from './check-power.ts';
import type { PowerConfirmation } from './confirmed-power.ts';
import { type ExactRef, getServer, type ServerRef, subjectOf } from './find-server.ts';
import { followPower } from './follow-power.ts';
import { findKeyGeneration } from './key-generation.ts';
import { nameFailure } from './name-failure.ts';
import { findUnanswered, type UnansweredCode } from './unanswered.ts';

export interface PowerChange {
  readonly server: Server;
  /** The state that the hosting API reports now; absent if its answer names none that the action can lead to. */
  readonly state?: string;
  /** The hosting API's own words, in place of a state. */
  readonly words?: string;
  /** The answer proves nothing: the action may have been carried out, and `state` is what the list showed right after. */
  readonly isUnconfirmed: boolean;
  /** The followed act; absent if nothing more is to be expected of the server. */
  readonly actId?: string;
}

export interface PowerInput {
  readonly ref: ServerRef | ExactRef;
  readonly onWait?: OnWait | undefined;
  /** The user was asked about this server and this action, and confirmed both. */
  readonly isSure?: boolean | undefined;
  /** The user has confirmed a list of servers with this one in it. */
  readonly confirmed?: PowerConfirmation | undefined;
  /** One of several servers of one command: those before it are followed as this act, or as none yet. */
  readonly among?: { readonly actId?: string | undefined } | undefined;
  readonly urgency?: Urgency | undefined;
  /** Called when everything permits it, before the request is queued for the hosting API; if it rejects, nothing is sent. */
  readonly onSending?: (() => Promise<void>) | undefined;
}

/** Start, stop and reboot, each a use case with its own name in the audit. */
export const changePower: Readonly<Record<PowerAction, UseCase<PowerInput, PowerChange>>> = {
  start: definePower('start'),
  stop: definePower('stop'),
  reboot: definePower('reboot'),
};

function definePower(action: PowerAction): UseCase<PowerInput, PowerChange> {
  return defineUseCase({
    name: action,
    needs: 'operator',
    effect: 'changes',
    announcesChange: true,
    subject: ({ ref }) => subjectOf(ref),
    run: async (
      { ref, onWait, urgency, onSending, among, ...sureness }: PowerInput,
      context,
    ): Promise<PowerChange> => {
      const waiting = { onWait, urgency };
      const server = await getServer(ref, context, waiting).catch((error: unknown) => {
        throw nameUnknown(nameFailure(error, { act: action, ...nameOf(ref) }), action);
      });
      await checkPower(action, server, { ref, ...sureness }, context);
      const keyGeneration = await findKeyGeneration(context);
      const hosting = await context.hosting();
      await onSending?.();
      await context.beforeChange();
      const answer = await send(action, server, hosting, waiting, context.app);
      if (answer.code === undefined) {
        const change = { server, ...answer };
        const actId = await followPower(action, { ...change, among, keyGeneration }, context);
        return { ...change, isUnconfirmed: false, actId };
      }
      const { code } = answer;
      context.setUnconfirmed(code);
      context.app.log.warn('a power action is unconfirmed', { action, serverId: server.id, code });
      const state = (await findNow(server, hosting))?.state;
      return { server, state, isUnconfirmed: true };
    },
  });
}

/** What the answer says, or why it is unconfirmed. @throws HostingError with proof that nothing was done */
async function send(
  action: PowerAction,
  server: Server,
  hosting: HostingApi,
  waiting: CallOptions,
  app: AppContext,
): Promise<(AcceptedPower & { readonly code?: never }) | { readonly code: UnansweredCode }> {
  try {
    return await hosting.changePower(action, server.id, waiting);
  } catch (error) {
    const code = findUnanswered(error);
    if (code === undefined) throw await describeFailure(error, action, server, hosting, app);
    return { code };
  }
}

/** Names the server and the action, and the state that the server is in now where that is why it was refused. */
async function describeFailure(
  error: unknown,
  act: PowerAction,
  server: Server,
  hosting: HostingApi,
  { system }: AppContext,
): Promise<unknown> {
  const isWrongState = error instanceof HostingError && error.code === 'wrong_state';
  const {
    label,
    id: serverId,
    state,
    paidUntil,
  } = (isWrongState && (await findNow(server, hosting))) || server;
  const isPaidTimeOver = paidUntil !== undefined && paidUntil <= system.now();
  const failed = { act, label, serverId, isPaidTimeOver };
  return nameFailure(error, failed, isWrongState ? { state } : {});
}

/** So that a suggestion can offer the same for the server that was probably meant. */
function nameUnknown(error: unknown, act: PowerAction): unknown {
  if (!isRefusal(error, 'unknown_server')) return error;
  return new Refusal('unknown_server', { ...error.details, act });
}

/** How the server was named, before it was looked up. */
function nameOf(ref: ServerRef | ExactRef) {
  if ('exactly' in ref) return { label: ref.exactly };
  return 'id' in ref ? { label: String(ref.id), serverId: ref.id } : { label: ref.typed };
}

/** The server in a fresh list, after an action without an answer; undefined if the list can't be read either. */
async function findNow(server: Server, hosting: HostingApi): Promise<Server | undefined> {
  try {
    const { servers } = await hosting.fetchServers({ freshness: 'fresh' });
    return servers.find(({ id }) => id === server.id);
  } catch {
    return undefined;
  }
}
