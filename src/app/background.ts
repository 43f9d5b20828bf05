import { describeDefect, isExpected } from '../domain/errors.ts';
import { isEnded, labelOf, type Operation } from '../domain/operation.ts';
import { DAY_MS, MINUTE_MS } from '../domain/time.ts';
import { sweepAccessRequests } from './access/sweep-access-requests.ts';
import { sweepApprovals } from './approvals/sweep-approvals.ts';
import type { Entry } from './authorize/entry.ts';
import type { AppPorts } from './ports.ts';
import { newLease, withLease } from './purchases/lease.ts';
import { notifyOperation } from './purchases/notify-operation.ts';
import { resolveUnconfirmed } from './purchases/resolve-unconfirmed.ts';
import { auditOf, payOperation } from './purchases/run-operation.ts';
import { pruneAudit, sweep } from './sweep.ts';

/** How often the ledger is asked for what is due. */
const TICK_MS = 500;
const SWEEP_MS = MINUTE_MS;
const PRUNE_MS = DAY_MS;
const MOST_AT_ONCE = 8;
/** A confirmation that a dead process left unsent is carried out within this time, and given back after it. */
const RESUME_MS = 5 * MINUTE_MS;
/** After this time, telling is given up; a password stays to be shown by `/vps password`. */
const TELL_MS = DAY_MS;

/** What has to be done behind people's backs: doubts, untold outcomes, restarts, expiries. Runs until aborted. */
export async function runBackground(
  ports: AppPorts,
  entry: Entry<AppPorts>,
  signal: AbortSignal,
): Promise<void> {
  const { system } = ports;
  let sweeping: Promise<void> | undefined;
  const running = new Set<Promise<void>>();
  const startedAt = system.now();
  const runAside = (work: Promise<void>): void => {
    const ended: Promise<void> = work.finally(() => running.delete(ended));
    running.add(ended);
  };
  const sweepIsDue = everyNow(SWEEP_MS, system);
  const pruneIsDue = everyNow(PRUNE_MS, system);
  while (!signal.aborted) {
    try {
      // Side by side: one order that waits for an answer must not hold up everybody's outcomes.
      while (running.size < MOST_AT_ONCE && !signal.aborted) {
        const work = await leaseOne(ports, entry);
        if (!work) break;
        runAside(work());
      }
      if (sweepIsDue()) {
        await sweep(ports);
        sweeping ??= sweepUntold(ports, startedAt).finally(() => {
          sweeping = undefined;
        });
      }
      // Beside the rest: a long audit takes a while, and outcomes must not wait for it.
      if (pruneIsDue()) runAside(pruneAudit(ports).catch((error: unknown) => logTrouble(error, ports)));
    } catch (error) {
      logTrouble(error, ports);
    }
    await system.sleep(TICK_MS, signal).catch(() => undefined);
  }
  await Promise.all([...running, sweeping]);
}

/** What waits for other people; trouble with one kind does not hold up the other. */
async function sweepUntold(ports: AppPorts, startedAt: number): Promise<void> {
  const sweeps = [sweepApprovals, sweepAccessRequests].map((each) =>
    each(ports, startedAt).catch((error: unknown) => logTrouble(error, ports)),
  );
  await Promise.all(sweeps);
}

/** The store is out of roles: everything stays due. */
function logTrouble(error: unknown, { log }: AppPorts): void {
  log.error('background work failed', { cause: error instanceof Error ? error.name : 'unknown' });
}

/** True the first time and then once in so many milliseconds. */
function everyNow(periodMs: number, system: AppPorts['system']): () => boolean {
  let lastAt = Number.NEGATIVE_INFINITY;
  return () => {
    const isDue = system.elapsed() - lastAt >= periodMs;
    if (isDue) lastAt = system.elapsed();
    return isDue;
  };
}

/** Takes one due operation and moves it on; false when none is due. */
export async function takeOne(ports: AppPorts, entry: Entry<AppPorts>): Promise<boolean> {
  const work = await leaseOne(ports, entry);
  await work?.();
  return work !== undefined;
}

/** Takes the lease of one due operation; what is handed out moves it on and never throws. */
async function leaseOne(ports: AppPorts, entry: Entry<AppPorts>): Promise<(() => Promise<void>) | undefined> {
  const { ledger } = ports;
  const lease = newLease(ports);
  const operation = await ledger.leaseDue(lease);
  if (!operation) return undefined;
  const moved = async () => {
    await moveOn(operation, lease.owner, ports, entry).catch((error) => logFailure(operation, error, ports));
    const after = await ledger.find(operation.id);
    return after && nextDueAt(after, ports.system.now());
  };
  return () =>
    withLease(operation.id, lease.owner, ports, moved).catch((error) => logFailure(operation, error, ports));
}

function logFailure(operation: Operation, error: unknown, { log }: AppPorts): void {
  const cause = isExpected(error) ? { cause: error.code } : describeDefect(error);
  log.warn('an operation could not be moved on', { operationId: operation.id, ...cause });
}

async function moveOn(
  operation: Operation,
  owner: string,
  ports: AppPorts,
  entry: Entry<AppPorts>,
): Promise<void> {
  const { ledger } = ports;
  const at = ports.system.now();
  if (operation.state === 'prepared') {
    await resume(operation, owner, ports, entry);
  } else if (operation.state === 'sent') {
    // The process that sent it is gone: nobody will ever read the answer.
    const audit = auditOf(operation, ports, 'in_doubt', { code: 'no_answer', surface: 'background' });
    await ledger.markUnconfirmed(operation.id, { at, dueAt: at, reason: 'no_answer' }, audit);
    await notifyOperation(operation.id, ports);
  } else if (operation.state === 'in_doubt' && !operation.needsDecision) {
    await resolveUnconfirmed(operation, ports);
    await notifyOperation(operation.id, ports);
  } else if (at - (operation.endedAt ?? operation.createdAt) > TELL_MS) {
    await ledger.markNotified(operation, at);
  } else {
    await notifyOperation(operation.id, ports);
  }
}

/** A confirmation without a sent request: proof that nothing was paid, so it may be carried out, by the same rules. */
async function resume(
  operation: Operation,
  owner: string,
  ports: AppPorts,
  entry: Entry<AppPorts>,
): Promise<void> {
  const { ledger } = ports;
  const at = ports.system.now();
  const { workspaceId, actorId: userId, channelId } = operation;
  const actor = { workspaceId, userId, ...(channelId === undefined ? {} : { channelId }) };
  const isStale = at - operation.createdAt > RESUME_MS;
  // While Slack can't say who they are, it stays due.
  const mayStill = isStale || (await entry.hasRole(actor, 'manager', labelOf(operation.purchase)));
  const reason = isStale ? 'stale_confirmation' : mayStill ? undefined : 'role_needed';
  if (reason === undefined) {
    await payOperation(operation, owner, ports);
    return;
  }
  const audit = auditOf(operation, ports, 'failed', { code: reason, surface: 'background' });
  const reasonDetails = reason === 'role_needed' ? { reasonDetails: { needed: 'manager' } } : {};
  await ledger.refuse(operation.id, { at, reason, ...reasonDetails }, audit);
  await notifyOperation(operation.id, ports);
}

/** First within seconds, then ever more rarely: each wait is half of the time that has passed, 5 minutes at most. */
export function nextDueAt(operation: Operation, now: number): number {
  const since = isEnded(operation) ? operation.endedAt : operation.sentAt;
  const passed = now - (since ?? operation.createdAt);
  return now + Math.min(Math.max(passed / 2, 1500), 5 * MINUTE_MS);
}
