import type { AppContext } from '../context.ts';
import type { Entry } from '../core/entry.ts';
import { describeDefect, isExpected } from '../core/errors.ts';
import type { JobHandler } from '../db/jobs.ts';
import { moveDelete } from '../servers/deletion.ts';
import { auditOfOperation, findNextDue, notifyOperation } from './notify.ts';
import { isInTime, isLookedFor, labelOf, type Operation, type OperationRefusal } from './operation.ts';
import { payOperation } from './pay.ts';
import { createDoubtClock, type DoubtClock, resolveUnconfirmed } from './resolve.ts';

/** Whether users may still do what they confirmed. */
export type RoleCheck = Pick<Entry, 'hasRole'>;

/** After this time notifying is given up; a password can still be shown by `/vps password`. */
const NOTIFY_MS = 24 * 3_600_000;

/** Creates what moves operations on, by their jobs. What fails is tried again, ever more rarely. */
export function createOperationHandler(app: AppContext, roles: RoleCheck): JobHandler {
  const doubtClock = createDoubtClock(app.system);
  return async (job) => {
    const { key: id, owner } = job;
    const operation = await app.ledger.find(id);
    if (!operation) return moveDelete(job, app);
    await moveOn(operation, owner, app, roles, doubtClock).catch((error: unknown) =>
      logFailure(operation, error, app),
    );
    return findNextDue(id, app);
  };
}

function logFailure(operation: Operation, error: unknown, { log }: AppContext): void {
  const cause = isExpected(error) ? { cause: error.code } : describeDefect(error);
  log.warn('an operation could not be moved on', { operationId: operation.id, ...cause });
}

async function moveOn(
  operation: Operation,
  owner: string,
  app: AppContext,
  roles: RoleCheck,
  doubtClock: DoubtClock,
): Promise<void> {
  const { ledger } = app;
  const at = app.system.now();
  if (operation.state === 'prepared') {
    await resume(operation, owner, app, roles);
  } else if (operation.state === 'sent') {
    // The process that sent it is gone, and the answer with it.
    const reason = { code: 'no_answer', details: {} } as const;
    const audit = auditOfOperation(operation, app, 'in_doubt', {
      code: reason.code,
      surface: 'background',
    });
    await ledger.markUnconfirmed(operation.id, { reason }, audit);
    await notifyOperation(operation.id, app);
  } else if (isLookedFor(operation)) {
    await lookFor(operation, app, doubtClock);
  } else if (at - (operation.endedAt ?? operation.createdAt) > NOTIFY_MS) {
    await ledger.markNotified(operation, at);
  } else {
    await notifyOperation(operation.id, app);
  }
}

/** Notifies the actor of the current state even if the lookup fails. The caller logs that failure. */
async function lookFor(operation: Operation, app: AppContext, doubtClock: DoubtClock): Promise<void> {
  const passedMs = doubtClock.sinceLastLook(operation);
  await resolveUnconfirmed(operation, passedMs, app).finally(() => notifyOperation(operation.id, app));
}

/** Confirmed and not sent: that proves that nothing was paid, so it is carried out now, under the same rules. */
async function resume(operation: Operation, owner: string, app: AppContext, roles: RoleCheck): Promise<void> {
  const reason = await findResumeRefusal(operation, app, roles);
  if (reason === undefined) {
    await payOperation(operation, owner, app);
    return;
  }
  const audit = auditOfOperation(operation, app, 'failed', { code: reason.code, surface: 'background' });
  await app.ledger.refuse(operation.id, { at: app.system.now(), reason }, audit);
  await notifyOperation(operation.id, app);
}

/** @throws Refusal `identity_unknown` while Slack can't say who the actor is: then it stays due */
async function findResumeRefusal(
  operation: Operation,
  { system }: AppContext,
  roles: RoleCheck,
): Promise<OperationRefusal | undefined> {
  if (!isInTime(operation, system.now())) return { code: 'stale_confirmation', details: {} };
  const { workspaceId, actorId: userId, channelId, purchase } = operation;
  const actor = { workspaceId, userId, channelId };
  const mayStill = await roles.hasRole(actor, 'manager', labelOf(purchase));
  return mayStill ? undefined : { code: 'role_needed', details: { needed: 'manager' } };
}
