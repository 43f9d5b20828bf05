import { findSearchedAccount } from '../account/keys.ts';
import type { AppContext } from '../context.ts';
import {
  describeDefect,
  findUnanswered,
  HostingError,
  isExpected,
  isRefusal,
  type NoDetails,
  nameFailure,
  type Reason,
  Refusal,
  type UnansweredCode,
} from '../core/errors.ts';
import type { ConfirmationId, ServerId } from '../core/ids.ts';
import { deletionWord, isIdenticalLabel } from '../core/labels.ts';
import { isDeleted } from '../core/server.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { Job } from '../db/jobs.ts';
import type { CallOptions, HostingApi, PaidCallOptions } from '../hosting/hosting-api.ts';
import {
  auditOfOperation,
  type ConfirmedOperation,
  type Deletion,
  doubtedFor,
  type NewOperation,
  NOTIFY_MS,
  OPERATION,
  type ProvenRefusal,
  refusalOf,
  type StatusOf,
} from '../purchases/operation.ts';
import {
  endUnsent,
  followServer,
  MarkUnknown,
  requireManager,
  type Seen,
  sendPermitted,
} from '../purchases/send.ts';
import { notInList } from './find.ts';
import { refuseProtected } from './notes.ts';

export type NewDelete = Omit<NewOperation, 'purchase' | 'price'> & { readonly deletion: Deletion };

/**
 * The delete of one server in the ledger (docs/design.md 4.13). It has the states of a purchase, with one difference: an unconfirmed
 * one ends by a whole list, and stays `unconfirmed` if that still has the server.
 */
export type DeleteOperation = Omit<ConfirmedOperation, 'purchase'> & {
  readonly deletion: Deletion;
} & StatusOf<ProvenRefusal, Reason<DeleteDoubtDetails>>;

/** Why it is not known whether a server was deleted. `isListed`: a list read right after the answer still had it. */
export type DeleteDoubtDetails = {
  readonly [Code in UnansweredCode]: { readonly isListed?: boolean | undefined };
} & {
  /** Another account was connected before the outcome could be looked for. */
  readonly lost_account: NoDetails;
  /** A defect of ours, after it was sent. */
  readonly defect: NoDetails;
  /** The database was restored from a backup, which doesn't have the outcome. */
  readonly restored: NoDetails;
};

export type DeleteReason = ProvenRefusal | Reason<DeleteDoubtDetails>;

type UnclearCode = UnansweredCode | 'defect';

/** Whether an answer, or a list read after it, proves that the server is gone. `isListed`: that list still has it. */
type Sent =
  | { readonly kind: 'gone' }
  | { readonly kind: 'unclear'; readonly code: UnclearCode; readonly isListed: boolean | undefined };

/**
 * Carries out a confirmed delete at once, unless another process is at it, and reports the outcome. `isAwaited`: its user waits, and
 * is told of what can't be checked now, rather than that it is tried again until its time is over.
 * Money effect: sends at most one DELETE for each confirmation; the rest of the paid month is lost (docs/hosting-api.md 3.4).
 * @throws what the store throws, and unless it is awaited what can't be checked now: then its job tries again
 */
export async function runDelete(
  id: ConfirmationId,
  app: AppContext,
  { isAwaited } = { isAwaited: false },
): Promise<void> {
  await app.jobs.runNow(OPERATION, id, (job) => moveDelete(job, app, isAwaited));
}

/**
 * Continues a delete, by its job. Returns when it is due again; undefined once it has ended and its user knows. @throws as
 * `runDelete`
 */
export async function moveDelete(
  { key: id, owner }: Pick<Job, 'key' | 'owner'>,
  app: AppContext,
  isAwaited = false,
): Promise<number | undefined> {
  const operation = await app.ledger.findDelete(id);
  if (!operation) return undefined;
  const { state, endedAt } = operation;
  if (state === 'prepared') await carryOut(operation, owner, app, isAwaited);
  else if (endedAt === undefined) await resolve(operation, app);
  else if (app.system.now() - endedAt > NOTIFY_MS) await app.ledger.markNotified(operation, app.system.now());
  else await notify(id, app);
  return app.ledger.findNextDue(id, app.system.now());
}

/** Sends what is confirmed, stores the outcome and reports it. */
async function carryOut(
  operation: DeleteOperation,
  owner: string,
  app: AppContext,
  isAwaited: boolean,
): Promise<void> {
  const sent = await send(operation, owner, app).catch(
    (error: unknown) => ({ kind: 'failed', error }) as const,
  );
  if (sent.kind === 'gone') await settle(operation, app, true);
  else if (sent.kind === 'unclear') await doubt(operation, sent.code, sent.isListed, app);
  // Another process has taken it over, may have sent it, and reports the outcome.
  else if (!(await refuse(operation, owner, sent.error, app, isAwaited))) return;
  await notify(operation.id, app);
}

/** Ends a delete that was not sent, or that the API refused. False if it is not this process's any more. @throws the error, if it stays prepared */
async function refuse(
  operation: DeleteOperation,
  owner: string,
  error: unknown,
  app: AppContext,
  isAwaited: boolean,
): Promise<boolean> {
  const { id } = operation;
  const refusal = refusalOf(error);
  const reason = refusal ?? ({ code: 'defect', details: {} } as const);
  const audit = auditOfOperation(operation, app, 'failed', { code: reason.code });
  const end = () => app.ledger.refuse(id, { at: app.system.now(), reason, owner }, audit);
  if (error instanceof MarkUnknown) {
    logDefect(error, id, app);
    return endUnsent(operation, end, app, () => app.deleteNotifier.notifyUnsaved(operation));
  }
  const isPrepared = (await app.ledger.findDelete(id))?.state === 'prepared';
  if (isPrepared && (!refusal || (!isAwaited && isPassing(error)))) throw error;
  if (!refusal) logDefect(error, id, app);
  return end();
}

function logDefect(error: unknown, confirmationId: ConfirmationId, { log }: AppContext): void {
  log.error('an unexpected error occurred during a delete', { confirmationId, ...describeDefect(error) });
}

/** Whether the same may be allowed, or known, a moment later. */
function isPassing(error: unknown): boolean {
  if (isRefusal(error, 'unknown_server')) return error.details.extent !== undefined;
  const codes = ['identity_unknown', 'waited_too_long', 'shutting_down'] as const;
  return error instanceof HostingError || codes.some((code) => isRefusal(error, code));
}

/**
 * Looks up all that permits the delete, marks it as sent, sends it, and reads the list where the answer proves nothing. Nothing is
 * sent unless that mark is committed (docs/design.md 4.2).
 * @throws HostingError, Refusal with proof that nothing was deleted; what the store throws before anything was sent
 */
function send(operation: DeleteOperation, owner: string, app: AppContext): Promise<Sent> {
  const { id, workspaceId, deletion } = operation;
  const { serverId, label } = deletion;
  const sendOnce = async (hosting: HostingApi, options: PaidCallOptions): Promise<Sent> => {
    let isSent = false;
    const beforeSend = async () => {
      isSent = false;
      await options.beforeSend();
      isSent = true;
    };
    let code: UnclearCode = 'unreadable_answer';
    try {
      if (await hosting.deleteServer(serverId, { ...options, beforeSend })) return { kind: 'gone' };
    } catch (error) {
      // Between two tries: what was tried before is proven not to have run.
      if (!isSent || error instanceof Refusal) throw error;
      const unanswered = findUnanswered(error);
      if (unanswered === undefined && isExpected(error))
        throw nameFailure(error, { act: 'delete', label, serverId });
      if (unanswered === undefined) logDefect(error, id, app);
      code = unanswered ?? 'defect';
    }
    const isListed = await findListed(serverId, hosting);
    return isListed === false ? { kind: 'gone' } : { kind: 'unclear', code, isListed };
  };
  return sendPermitted({
    operation,
    owner,
    app,
    look: (hosting, how) => look(operation, hosting, how, app),
    // Protecting the server after the delete was confirmed has the last word.
    lastLook: () => refuseProtected('delete', { id: serverId, label }, workspaceId, app),
    send: sendOnce,
  });
}

/** Whether the account still has the server; undefined if the list can't be read, or lacks the server and may be incomplete. */
async function findListed(id: ServerId, hosting: HostingApi): Promise<boolean | undefined> {
  try {
    const { servers, extent } = await hosting.fetchServers({ freshness: 'fresh' });
    const server = servers.find((one) => one.id === id);
    if (server) return !isDeleted(server);
    return extent === 'whole' ? false : undefined;
  } catch {
    return undefined;
  }
}

/**
 * @throws Refusal `unknown_server`, `role_needed`, `identity_unknown`, `label_differs`, `approval_needed`, `already_renewed`;
 * HostingError if the list can't be read
 */
async function look(
  operation: DeleteOperation,
  hosting: HostingApi,
  how: CallOptions,
  app: AppContext,
): Promise<Seen> {
  const { id, workspaceId, deletion } = operation;
  const { serverId, label, paidUntil } = deletion;
  const list = await hosting.fetchServers(how);
  const server = list.servers.find((one) => one.id === serverId);
  if (!server || isDeleted(server))
    throw notInList({ typed: String(serverId) }, server ? { extent: 'whole' } : list);
  // First of all: a user who isn't allowed to know the server doesn't learn its label.
  await requireManager(operation, server.label, app);
  if (!isIdenticalLabel(server.label, label))
    throw new Refusal('label_differs', {
      typed: deletionWord({ id: serverId, label }),
      label: deletionWord(server),
    });
  const isApproved = (await app.requests.find(id, ['delete']))?.state === 'approved';
  const { approval } = await app.workspaces.readSettings(workspaceId);
  if (approval.delete && !isApproved) throw new Refusal('approval_needed', {});
  // A month that was paid since then would be lost without anyone having agreed to that.
  if (isApproved && server.paidUntil !== paidUntil)
    throw new Refusal('already_renewed', { label, paidUntil: server.paidUntil ?? 0 });
  return {};
}

async function settle(operation: DeleteOperation, app: AppContext, isFirstHand = false): Promise<void> {
  const { id, deletion } = operation;
  const settled = { at: app.system.now(), serverId: deletion.serverId, isFirstHand };
  await app.ledger.settle(id, settled, auditOfOperation(operation, app, 'done'));
}

/** Stores that it is not known whether what was sent was done. Its job keeps looking. */
async function doubt(
  operation: DeleteOperation,
  code: UnclearCode,
  isListed: boolean | undefined,
  app: AppContext,
): Promise<void> {
  // Another account's servers prove nothing.
  const isLost = (await findSearchedAccount(operation, app)).kind === 'other';
  const reason: Reason<DeleteDoubtDetails> = isLost
    ? { code: 'lost_account', details: {} }
    : { code, details: code === 'defect' ? {} : { isListed } };
  const audit = auditOfOperation(operation, app, 'in_doubt', { code: reason.code });
  await app.ledger.markUnconfirmed(operation.id, { reason }, audit);
}

/** Until then, what a process sent before it died, or lost the answer to, may still be carried out. */
const SENDER_MS = 2 * MINUTE_MS;

/**
 * Looks for the server of a delete that no answer proves: without it, a whole list settles it; with it, the list ends it in time.
 * While its request may still be carried out, only proof is reported.
 */
async function resolve(operation: DeleteOperation, app: AppContext): Promise<void> {
  const { id, state, deletion } = operation;
  const account = await findSearchedAccount(operation, app);
  const isListed = account.kind === 'same' ? await findListed(deletion.serverId, account.hosting) : undefined;
  const isOverdue = doubtedFor(operation, app.system.now()) > SENDER_MS;
  if (isListed === false) await settle(operation, app);
  // The process that sent it has died, and the answer with it. Nothing is sent again.
  else if (state === 'sent') await doubt(operation, 'no_answer', isListed, app);
  else if (isOverdue && (isListed || account.kind === 'other'))
    await app.ledger.closeDelete(id, app.system.now());
  const isSettled = (await app.ledger.findDelete(id))?.state === 'settled';
  if (isSettled || isOverdue) await notify(id, app);
}

/** Notifies its user, and those who decided, unless they know. If Slack refuses, its job tries again. */
async function notify(id: ConfirmationId, app: AppContext): Promise<void> {
  const operation = await app.ledger.findDelete(id);
  if (!operation || operation.notifiedAt !== undefined) return;
  const { state } = operation;
  if (state === 'prepared' || state === 'sent') return;
  const request = await app.requests.find(id, ['delete']);
  const approval = request?.state === 'approved' ? request : undefined;
  const isShown = !approval || (await app.requestNotifier.updateCards(approval));
  if (!(await app.deleteNotifier.notify(operation, approval?.decidedBy))) return;
  // Slack may have come back between the two.
  if (approval && !isShown) await app.requestNotifier.updateCards(approval);
  // Afterwards: the channel has its message by then, which is known under this ID.
  if (state === 'settled') await followServer(operation, app);
  await app.ledger.markNotified(operation, app.system.now());
}
