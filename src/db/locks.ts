import type { LockLeases, LockOwner } from '../core/locks.ts';
import { DAY_MS } from '../core/time.ts';
import type { Foundation, Queries } from './database.ts';

/**
 * One row for each held lock. While a row names an owner, no other owner has held the lock since. Leases are compared with
 * the engine's clock.
 */
export function createLockLeases(foundation: Foundation): LockLeases {
  const { db, engine } = foundation;
  const after = (ms: number) => {
    const now = engine.clock.now();
    return engine.moment(now + ms, now);
  };
  return {
    // A lock that is free or whose lease has ended, in one statement.
    take: async ({ name, owner }, leaseMs) => {
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
    renew: async ({ name, owner }, leaseMs) => {
      const renewed = await db
        .updateTable('locks')
        .set({ until: after(leaseMs) })
        .where('name', '=', name)
        .where('owner', '=', owner)
        .returning('name')
        .executeTakeFirst();
      return renewed !== undefined;
    },
    release: async ({ name, owner }) => {
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

/** Whether this owner still holds the lock; until the transaction ends, no other one can take it. */
export async function holdsLock(trx: Queries, { name, owner }: LockOwner): Promise<boolean> {
  const row = await trx
    .updateTable('locks')
    .set({ owner })
    .where('name', '=', name)
    .where('owner', '=', owner)
    .returning('name')
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Locks a workspace by writing its row, until the transaction ends. Changes of its key, grants and settings do, and so do
 * confirmations and payments: each then comes before or after any other (docs/design.md 4.2).
 */
export async function lockWorkspace(trx: Queries, id: string): Promise<void> {
  await trx
    .updateTable('workspaces')
    .set((column) => ({ name: column.ref('name') }))
    .where('id', '=', id)
    .execute();
}
