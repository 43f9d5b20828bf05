import type { LockLeases, LockOwner } from '../app/locks.ts';
import type { Foundation, Queries } from './engine/database.ts';

const DAY_MS = 24 * 3_600_000;

/**
 * One row for each lock that is held. `now` is the one clock, in epoch milliseconds, that leases are compared with. A row that names an owner means that nobody else has held the lock since.
 */
export function createLockLeases({ db }: Foundation, now: () => number): LockLeases {
  return {
    take: async ({ name, owner }, leaseMs) => {
      const at = now();
      const held = { owner, until: at + leaseMs };
      const taken = await db
        .insertInto('locks')
        .values({ name, ...held })
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet(held)
            .where((column) =>
              column.or([column('locks.until', '<=', at), column('locks.owner', '=', owner)]),
            ),
        )
        .returning('name')
        .executeTakeFirst();
      return taken !== undefined;
    },
    renew: async ({ name, owner }, leaseMs) => {
      const renewed = await db
        .updateTable('locks')
        .set({ until: now() + leaseMs })
        .where('name', '=', name)
        .where('owner', '=', owner)
        .returning('name')
        .executeTakeFirst();
      return renewed !== undefined;
    },
    // Rows that processes left behind when they died go, too; with a day to spare, whatever the clock does.
    release: async ({ name, owner }) => {
      await db
        .deleteFrom('locks')
        .where((column) =>
          column.or([
            column.and([column('name', '=', name), column('owner', '=', owner)]),
            column('until', '<=', now() - DAY_MS),
          ]),
        )
        .execute();
    },
  };
}

/** Whether this owner still holds the lock; until the transaction ends, nobody else can take it. */
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
