import { getWorkspace } from '../account/workspaces.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { isExpected, isRefusal, Refusal } from '../core/errors.ts';
import type { ConfirmationId, ServerId } from '../core/ids.ts';
import { deletionWord, isIdenticalLabel } from '../core/labels.ts';
import { isDeleted, isTargetState, type PowerAction, type Server } from '../core/server.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { HostingApi } from '../hosting/hosting-api.ts';
import { type RequestedApproval, requestApproval } from '../requests/approval.ts';
import { notifyRequest } from '../requests/notify.ts';
import { findUnanswered, getServer, nameFailure, type ServerRef, type UnansweredCode } from './find.ts';
import { PLACE_WITHIN_MS, startFollowing } from './follow.ts';
import { refuseProtected } from './protect.ts';

/** Reads what the delete form shows. @throws Refusal `server_protected`, and as `getServer` does; HostingError */
export const prepareDelete = defineUseCase({
  name: 'delete',
  needs: 'manager',
  effect: 'reads',
  run: async (input: { ref: ServerRef }, context): Promise<DeleteReview> => {
    const server = await getServer(input.ref, context);
    await refuseProtected('delete', server, context.actor.workspaceId, context.app);
    return { server, takesApproval: (await getWorkspace(context)).settings.approval.delete };
  },
});

/** What the delete form shows. */
export interface DeleteReview {
  readonly server: Server;
  /** Another manager has to approve the delete. */
  readonly takesApproval: boolean;
}

/** A server, and the label that was typed to confirm its deletion. */
interface DeleteInput {
  readonly id: ServerId;
  readonly typedLabel: string;
}

interface Deletion {
  readonly server: Server;
  /**
   * True only with proof. Otherwise unconfirmed: false if a list read right after still had the server, undefined if no
   * list could tell.
   */
  readonly isGone: boolean | undefined;
  /** The act under which a proven deletion is followed. */
  readonly actId?: string;
}

/**
 * Deletes the server whose label was typed, once for each form.
 * Money effect: the rest of the paid month is lost (docs/hosting-api.md 3.4).
 * @throws Refusal `label_differs`, `unknown_server`, `role_needed`, `server_protected`, `approval_needed`, `already_handled`;
 * HostingError with proof that it was not deleted
 */
export const deleteServer = defineUseCase({
  name: 'delete',
  needs: 'manager',
  effect: 'changes',
  isOncePerForm: true,
  subject: ({ id, typedLabel }) => ({ serverId: id, label: typedLabel }),
  run: async (input: DeleteInput & { readonly formId: string }, context): Promise<Deletion> => {
    const server = await getServerToDelete(input, context);
    if ((await getWorkspace(context)).settings.approval.delete) throw new Refusal('approval_needed', {});
    const hosting = await context.hosting();
    const { seenRequests, system } = context.app;
    if (!(await seenRequests.addFirst(`delete:${input.formId}`, system.now())))
      throw new Refusal('already_handled', {});
    const outcome = await sendDelete(server.id, hosting).catch((error: unknown) => {
      throw nameFailure(error, { act: 'delete', label: server.label, serverId: server.id });
    });
    if (outcome.kind === 'gone') {
      const actId = await followDelete(input.formId, server, hosting.account[0], context);
      return { server, isGone: true, actId };
    }
    context.setUnconfirmed(outcome.code);
    return { server, isGone: outcome.isListed === undefined ? undefined : false };
  },
});

/** Follows a deletion until a complete list no longer has the server. Undefined if that can't be stored. */
async function followDelete(
  id: ConfirmationId,
  { id: serverId, label }: Server,
  account: string,
  { actor, app }: UseCaseContext,
): Promise<string | undefined> {
  const { workspaceId, userId: actorId, channelId } = actor;
  const action = 'delete' as const;
  const act = { id, workspaceId, action, actorId, account, channelId };
  const server = { serverId, label, standing: 'waiting', hasChanged: false } as const;
  return (await startFollowing(act, server, app, PLACE_WITHIN_MS)) ? id : undefined;
}

/**
 * Gets the server if its label was typed.
 * @throws Refusal `label_differs`, `unknown_server`, `role_needed`, `server_protected`
 */
async function getServerToDelete({ id, typedLabel }: DeleteInput, context: UseCaseContext): Promise<Server> {
  const server = await getServer({ id }, context, { freshness: 'fresh' });
  const wanted = deletionWord(server);
  if (!isIdenticalLabel(typedLabel.trim(), wanted))
    throw new Refusal('label_differs', { typed: typedLabel, label: wanted });
  await refuseProtected('delete', server, context.actor.workspaceId, context.app);
  return server;
}

/**
 * Requests a second person's approval where the workspace requires it for deletes; undefined where it does not. Deletes nothing.
 * @throws Refusal `label_differs`, `unknown_server`, `role_needed`, `server_protected`, and as `requestApproval` does
 */
export const requestDelete = defineUseCase({
  name: 'delete',
  needs: 'manager',
  effect: 'confirms',
  run: async (
    input: DeleteInput & { approvalId: ConfirmationId },
    context: UseCaseContext,
  ): Promise<RequestedApproval | undefined> => {
    if (!(await getWorkspace(context)).settings.approval.delete) return undefined;
    const { id: serverId, label, paidUntil } = await getServerToDelete(input, context);
    const action = { kind: 'delete', serverId, label, paidUntil } as const;
    return requestApproval({ id: input.approvalId, ...action, isOverBudget: false }, context);
  },
  follow: async (requested, { app }) => {
    if (requested?.isNew) await notifyRequest(requested.approval.id, app);
  },
});

/** The outcome of a delete. `gone` is proven by the answer, a list that says `deleted`, or a complete list without the server. */
type DeleteOutcome =
  | { readonly kind: 'gone' }
  /** `isListed`: a list read right after still had the server; undefined if no list could tell. */
  | { readonly kind: 'unconfirmed'; readonly code: UnansweredCode; readonly isListed: boolean | undefined };

/**
 * Sends a delete, and reads the list where the answer proves nothing.
 * Money effect: the rest of the paid month is lost (docs/hosting-api.md 3.4).
 * @throws HostingError with proof that it was not deleted; Refusal of the limiter, before anything is sent
 */
export async function sendDelete(id: ServerId, hosting: HostingApi): Promise<DeleteOutcome> {
  const code = await send(id, hosting);
  if (code === undefined) return { kind: 'gone' };
  const isListed = await findListed(id, hosting);
  return isListed === false ? { kind: 'gone' } : { kind: 'unconfirmed', code, isListed };
}

/** Sends the delete. Returns the code that leaves it unconfirmed; undefined if the answer proves it. */
async function send(id: ServerId, hosting: HostingApi): Promise<UnansweredCode | undefined> {
  try {
    return (await hosting.deleteServer(id)) ? undefined : 'unreadable_answer';
  } catch (error) {
    const code = findUnanswered(error);
    if (code === undefined) throw error;
    return code;
  }
}

/** Whether the account still has the server; undefined if the list can't be read, or lacks the server and may be incomplete. */
export async function findListed(id: ServerId, hosting: HostingApi): Promise<boolean | undefined> {
  try {
    const { servers, extent } = await hosting.fetchServers({ freshness: 'fresh' });
    const server = servers.find((one) => one.id === id);
    if (server) return !isDeleted(server);
    return extent === 'whole' ? false : undefined;
  } catch {
    return undefined;
  }
}

/** How long a server is watched after a power action. */
const WATCH_MS = 2 * MINUTE_MS;
const FIRST_WAIT_MS = 1500;
const LONGEST_WAIT_MS = 10_000;

/** A server as it was watched after a power action. */
interface Watched {
  /** The last listed state; undefined if it was never listed. */
  readonly server: Server | undefined;
  /** Whether the server has reached the action's target state. */
  readonly isAtTarget: boolean;
  /** Milliseconds since the watch began. */
  readonly ms: number;
}

/**
 * Watches a server for a user whose screen shows it, with growing pauses, until it reaches the power action's target state or
 * two minutes have passed. `follow.ts` updates messages in channels.
 * @throws Refusal `role_needed`, `no_api_key`
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
      const isAtTarget = server !== undefined && isTargetState(action, server);
      if (isAtTarget || seen === 'stopping' || ms + waitMs > WATCH_MS) return { server, isAtTarget, ms };
    }
  },
});

/**
 * Reads the server as background work, so that a watch doesn't delay users. Undefined without an answer or the server;
 * `stopping` when the app is shutting down.
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
