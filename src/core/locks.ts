import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import { Refusal } from './errors.ts';

/** The name of a lock and the ID of its owner, by which a transaction checks that the lock is still held. */
export interface LockOwner {
  readonly name: string;
  readonly owner: string;
}

/** A lock while its work runs. */
export interface HeldLock extends LockOwner {
  /** Whether the lease still runs. Once false, another process may hold the lock, and nothing that spends money may start. */
  isHeld(): boolean;
}

/** Named locks. Work under one name runs one at a time, in all processes that share the store (docs/design.md 4.3). */
export interface Locks {
  /**
   * Waits for the lock, two minutes at most, then runs the work.
   * @throws Refusal `waited_too_long` if the work did not start; and what the work or the store throws
   */
  run<Result>(name: string, work: (lock: HeldLock) => Promise<Result>): Promise<Result>;
}

/** The stored leases behind the locks. They end by the store's clock, so that processes need not agree on the time. */
export interface LockLeases {
  /** Takes the lock for `leaseMs`; false if another owner holds it. */
  take(lock: LockOwner, leaseMs: number): Promise<boolean>;
  /** Extends the lease to `leaseMs` from now; false if another owner has held the lock since. */
  renew(lock: LockOwner, leaseMs: number): Promise<boolean>;
  /** Frees the lock, unless another owner holds it. */
  release(lock: LockOwner): Promise<void>;
}

interface Parts {
  readonly leases: LockLeases;
  readonly system: System;
  readonly log: Log;
}

/** How long a lock stays with a process that has died. A living one renews it every 10 s. */
const LEASE_MS = 30_000;
/** How long work waits for its lock. */
const WAIT_MS = 120_000;
/** The pause between two tries for a lock that another process holds. */
const POLL_MS = 250;

/** Creates the locks: within this process a fair queue for each name, across processes a lease in the store. */
export function createLocks(parts: Parts): Locks {
  const { system } = parts;
  /** When all work of a name has ended. */
  const tails = new Map<string, Promise<void>>();
  return {
    run: (name, work) => {
      const deadline = system.elapsed() + WAIT_MS;
      const before = tails.get(name);
      const done = waitFor(before, system).then(() =>
        runLeased({ name, owner: system.newId() }, deadline, work, parts),
      );
      // The next in the queue still waits for all earlier work if this one gives up.
      const tail: Promise<void> = Promise.allSettled([before, done]).then(() => {
        if (tails.get(name) === tail) tails.delete(name);
      });
      tails.set(name, tail);
      return done;
    },
  };
}

/** @throws Refusal `waited_too_long` */
async function waitFor(before: Promise<void> | undefined, system: System): Promise<void> {
  const isOver = before
    ? await withTimeout(
        before.then(() => true),
        system,
        WAIT_MS,
      )
    : true;
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

/** Takes the lock; returns when its lease ends, on the monotonic clock. @throws Refusal `waited_too_long` after the deadline */
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

/** Releases a lock after its work. A failure is only logged: the outcome is final, and the lease ends by itself. */
async function release(lock: LockOwner, { leases, log }: Parts): Promise<void> {
  await leases.release(lock).catch((error: unknown) => {
    log.warn('a lock could not be released', { lock: lock.name, cause: nameOf(error) });
  });
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}

/** Makes a promise, and what resolves it. */
export function withResolvers<Value = void>() {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Leaves time for an answer to Slack, which has to come within 3 s. */
const TIMEOUT_MS = 1200;

/** Waits for work, 1.2 s unless `timeoutMs` says otherwise; undefined if it takes longer. @throws what the work throws in time */
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

/** Running work that the app waits for before it stops. */
export class InFlight {
  readonly #running = new Set<Promise<unknown>>();

  /** Counts this work until it ends, and returns it. The caller handles what it throws. */
  add<Result>(work: Promise<Result>): Promise<Result> {
    const ended: Promise<unknown> = work.catch(() => undefined).finally(() => this.#running.delete(ended));
    this.#running.add(ended);
    return work;
  }

  /** Resolves when all work has ended, including work that was added in the meantime. */
  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
