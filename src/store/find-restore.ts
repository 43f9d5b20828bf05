import type { ConfirmationId } from '../domain/ids.ts';
import type { Foundation, Queries } from './engine/database.ts';
import type { LastSent } from './last-sent.ts';
import { markRestored } from './restores.ts';

const FOUND =
  'The database is older than an order that was sent from here, so it was restored from a backup, or has lost commits. ' +
  'Orders that were confirmed or sent in the backup are now unconfirmed, and requests for approval were canceled. ' +
  'Compare the hosting account with /vps list before anyone orders again.';

/**
 * Looks whether the database knows the last order that was sent from here. If it doesn't, it was put back to an earlier
 * state, and is treated so once. Returns what the operator has to know.
 */
export async function findRestore(foundation: Foundation, lastSent: LastSent): Promise<readonly string[]> {
  const { db, engine } = foundation;
  const orderId = await findLostOrder(foundation, lastSent);
  if (orderId === undefined || (await isNoted(db, orderId))) return [];
  await markRestored(foundation, engine.clock.now(), { isCommand: false, orderId });
  return [FOUND];
}

/** The order that was sent last from here, if this database has sent it and doesn't know that. */
export async function findLostOrder(
  foundation: Foundation,
  lastSent: LastSent,
): Promise<ConfirmationId | undefined> {
  const last = lastSent.read();
  // Of another database that keeps its notes in the same folder, or did so before.
  if (last?.store !== (await identify(foundation))) return undefined;
  const known = await foundation.db
    .selectFrom('operations')
    .select('id')
    .where('id', '=', last.order)
    .where('state', '<>', 'prepared')
    .executeTakeFirst();
  return known ? undefined : last.order;
}

/** The ID that the database was given at its first start, and that each backup of it has. */
export async function identify({ db, newId }: Pick<Foundation, 'db' | 'newId'>): Promise<string> {
  const row = { name: 'store', id: newId() } as const;
  await db
    .insertInto('identities')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { id } = await db.selectFrom('identities').select('id').executeTakeFirstOrThrow();
  return id;
}

/** Whether a restore has been found by this order before. */
async function isNoted(db: Queries, orderId: ConfirmationId): Promise<boolean> {
  const row = await db.selectFrom('restores').select('id').where('order_id', '=', orderId).executeTakeFirst();
  return row !== undefined;
}
