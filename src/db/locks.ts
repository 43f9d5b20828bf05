import { nameOfError, Refusal } from '../core/errors.ts';
import { withTimeout } from '../core/promises.ts';
import { DAY_MS } from '../core/time.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import type { Foundation } from './database.ts';

/** The name of a lock and the ID of its owner, . */
interface LockOwner {
  readonly name: string;
  readonly owner: string;
}

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

interface Parts {
  readonly leases: LockLeases;
  readonly system: System;
  readonly log: Log;
}

/** How long a lock stays with a process that has died. A living one renews it every 10 s. */
const LEASE_MS = 30_000;
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
      const turn = before
        ? withTimeout(
            before.then(() => true),
            system,
            WAIT_MS,
          )
        : Promise.resolve(true);
      const done = turn.then((isMine) => {
        if (!isMine) throw new Refusal('waited_too_long', {});
        return runLeased({ name, owner: system.newId() }, deadline, work, parts);
      });
      // The next in the queue still waits for all earlier work if this one gives up.
      const tail: Promise<void> = Promise.allSettled([before, done]).then(() => {
        if (tails.get(name) === tail) tails.delete(name);
      });
      tails.set(name, tail);
      return done;
    },
  };
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
      if (!ended.aborted)
        log.warn('a lock could not be renewed', { lock: lock.name, cause: nameOfError(error) });
    }
  }
}

/** Releases a lock after its work. A failure is only logged: the outcome is final, and the lease ends by itself. */
async function release(lock: LockOwner, { leases, log }: Parts): Promise<void> {
  await leases.release(lock).catch((error: unknown) => {
    log.warn('a lock could not be released', { lock: lock.name, cause: nameOfError(error) });
  });
}

type LockLeases = ReturnType<typeof createLockLeases>;

/**
 * The stored leases behind the locks: one row for each held lock. While a row names an owner, no other owner has held the lock
 * since. They end by the store's clock, so that processes need not agree on the time.
 */
export function createLockLeases(foundation: Foundation) {
  const { db, engine } = foundation;
  const after = (ms: number) => {
    const now = engine.clock.now();
    return engine.moment(now + ms, now);
  };
  return {
    /** Takes the lock for `leaseMs` if it is free or its lease has ended, in one statement; false if another owner holds it. */
    take: async ({ name, owner }: LockOwner, leaseMs: number): Promise<boolean> => {
      const held = { owner, until: after(leaseMs) };
      const taken = await db
        .insertInto('locks')
        .values({ name, ...held })
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet(held)
            .where((column) =>
              column.or([column('locks.until', '<=', after(0)), column('locks.owner', '=', owner)]),
            ),
        )
        .returning('name')
        .executeTakeFirst();
      return taken !== undefined;
    },
    /** Extends the lease to `leaseMs` from now; false if another owner has held the lock since. */
    renew: async ({ name, owner }: LockOwner, leaseMs: number): Promise<boolean> => {
      const renewed = await db
        .updateTable('locks')
        .set({ until: after(leaseMs) })
        .where('name', '=', name)
        .where('owner', '=', owner)
        .returning('name')
        .executeTakeFirst();
      return renewed !== undefined;
    },
    /** Frees the lock, unless another owner holds it. */
    release: async ({ name, owner }: LockOwner): Promise<void> => {
      await db
        .deleteFrom('locks')
        .where((column) =>
          column.or([
            column.and([column('name', '=', name), column('owner', '=', owner)]),
            // Left by a process that died; a day's margin covers any clock trouble.
            column('until', '<=', after(-DAY_MS)),
          ]),
        )
        .execute();
    },
  };
}
