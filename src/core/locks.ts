import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import { isRefusal, Refusal } from './errors.ts';

/** A lock and its owner: enough for the store to check in a transaction whether it is still held. */
export interface LockOwner {
  readonly name: string;
  readonly owner: string;
}

/** A lock while the work runs under it. */
export interface HeldLock extends LockOwner {
  /** False once the lock may belong to another process: nothing that spends money may start then. */
  isHeld(): boolean;
}

/** Runs pieces of work that share a name one after the other, in all processes that share the store (docs/design.md 4.3). */
export interface Locks {
  /**
   * Runs the work once it holds the lock of that name.
   * @throws Refusal `waited_too_long` when that took two minutes and the work did not start; and what the work throws
   */
  run<Result>(name: string, work: (lock: HeldLock) => Promise<Result>): Promise<Result>;
  /** Runs the work unless the lock is held, in any process: then false, and the work did not start. @throws what the work throws */
  runIfFree(name: string, work: () => Promise<void>): Promise<boolean>;
}

/** The rows behind the locks. They are compared with the store's clock, so that processes need not agree on the time. */
export interface LockLeases {
  /** False when another owner holds the lock. */
  take(lock: LockOwner, leaseMs: number): Promise<boolean>;
  /** False when another owner has held the lock since. */
  renew(lock: LockOwner, leaseMs: number): Promise<boolean>;
  release(lock: LockOwner): Promise<void>;
}

interface Parts {
  readonly leases: LockLeases;
  readonly system: System;
  readonly log: Log;
}

/** How long a lock stays with a process that has died. A living one renews it three times as often. */
const LEASE_MS = 30_000;
/** Longer than the hosting API may take to answer one request, shorter than a confirmation may wait. */
const WAIT_MS = 120_000;
/** How often to try again for a lock that another process holds. */
const POLL_MS = 250;

/** Builds locks: a fair queue by name within this process, a lease in the store across processes. */
export function createLocks(parts: Parts): Locks {
  const { system } = parts;
  const tails = new Map<string, Promise<void>>();
  const runInTurn = async <Result>(
    name: string,
    deadline: number,
    work: (lock: HeldLock) => Promise<Result>,
  ): Promise<Result> => {
    const before = tails.get(name);
    const { promise: ended, resolve: end } = withResolvers();
    // If a waiter gives up, the next one still waits for everyone who came before both.
    const tail = (before ?? Promise.resolve()).then(() => ended);
    tails.set(name, tail);
    try {
      if (before) await waitFor(before, system);
      return await runLeased({ name, owner: system.newId() }, deadline, work, parts);
    } finally {
      end();
      if (tails.get(name) === tail) tails.delete(name);
    }
  };
  return {
    run: (name, work) => runInTurn(name, system.elapsed() + WAIT_MS, work),
    runIfFree: async (name, work) => {
      if (tails.has(name)) return false;
      let isStarted = false;
      const start = () => {
        isStarted = true;
        return work();
      };
      return runInTurn(name, system.elapsed(), start).then(
        () => true,
        (error: unknown) => {
          if (!isStarted && isRefusal(error, 'waited_too_long')) return false;
          throw error;
        },
      );
    },
  };
}

async function waitFor(before: Promise<void>, system: System): Promise<void> {
  const isOver = await withTimeout(
    before.then(() => true),
    system,
    WAIT_MS,
  );
  if (!isOver) throw new Refusal('waited_too_long', {});
}

async function runLeased<Result>(
  lock: LockOwner,
  deadline: number,
  work: (lock: HeldLock) => Promise<Result>,
  parts: Parts,
): Promise<Result> {
  const { system } = parts;
  const lease = { until: await take(lock, deadline, parts) };
  const ended = new AbortController();
  const renewing = keepRenewed(lock, lease, ended.signal, parts);
  try {
    return await work({ ...lock, isHeld: () => system.elapsed() < lease.until });
  } finally {
    ended.abort();
    await renewing;
    await release(lock, parts);
  }
}

/** When the lease that was taken ends, on the monotonic clock of this process. */
async function take(lock: LockOwner, deadline: number, { leases, system }: Parts): Promise<number> {
  for (;;) {
    const at = system.elapsed();
    if (await leases.take(lock, LEASE_MS)) return at + LEASE_MS;
    if (at + POLL_MS > deadline) throw new Refusal('waited_too_long', {});
    await system.sleep(POLL_MS);
  }
}

async function keepRenewed(
  lock: LockOwner,
  lease: { until: number },
  ended: AbortSignal,
  { leases, system, log }: Parts,
): Promise<void> {
  while (!ended.aborted) {
    try {
      await system.sleep(LEASE_MS / 3, ended);
      const at = system.elapsed();
      const isMine = await leases.renew(lock, LEASE_MS);
      lease.until = isMine ? at + LEASE_MS : Number.NEGATIVE_INFINITY;
      if (isMine) continue;
      log.error('a lock was lost to another process', { lock: lock.name });
      return;
    } catch (error) {
      if (!ended.aborted) log.warn('a lock could not be renewed', { lock: lock.name, cause: nameOf(error) });
    }
  }
}

/** The work has ended and its outcome is final, so a failure is only logged: the lease ends by itself. */
async function release(lock: LockOwner, { leases, log }: Parts): Promise<void> {
  await leases.release(lock).catch((error: unknown) => {
    log.warn('a lock could not be released', { lock: lock.name, cause: nameOf(error) });
  });
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}

function withResolvers() {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Slack wants its answer within 3 s: what takes longer than this is sent later. */
const TIMEOUT_MS = 1200;

/** The result if it comes within the timeout (milliseconds), undefined if it does not. @throws what the work throws in time */
export async function withTimeout<Result>(
  work: Promise<Result>,
  system: System,
  timeoutMs = TIMEOUT_MS,
): Promise<Result | undefined> {
  const stop = new AbortController();
  const late = system.sleep(timeoutMs, stop.signal).then(
    () => undefined,
    () => undefined,
  );
  // A failure after the timeout is handled by the code that awaits the work itself.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    stop.abort();
  }
}

/** Work that was begun, and that a stop waits for. */
export class InFlight {
  readonly #running = new Set<Promise<unknown>>();

  /** Counts this work until it ends, and returns it. Who begins it also handles what it throws. */
  add<Result>(work: Promise<Result>): Promise<Result> {
    const ended: Promise<unknown> = work.catch(() => undefined).finally(() => this.#running.delete(ended));
    this.#running.add(ended);
    return work;
  }

  /** Resolves when everything has ended, also what was begun while it waited. */
  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
