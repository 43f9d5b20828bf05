import type { Queries } from './engine/database.ts';
import { DatabaseUnusable } from './engine/errors.ts';
import type { MoveRow } from './engine/tables.ts';

/** Finds the move by which the data of this database left it, or was about to. */
export async function findDeparture(db: Queries): Promise<MoveRow | undefined> {
  return db
    .selectFrom('moves')
    .selectAll()
    .where('state', 'in', ['begun', 'left'])
    .orderBy('at', 'desc')
    .executeTakeFirst();
}

/** @throws DatabaseUnusable when the data is in another database now, or may be */
export async function refuseMoved(db: Queries): Promise<void> {
  const move = await findDeparture(db);
  if (!move) return;
  const day = new Date(move.at).toISOString().slice(0, 10);
  throw new DatabaseUnusable(
    move.state === 'left'
      ? `This database was moved to ${move.place} on ${day}. Set DATABASE_URL to that database.`
      : `This database was being moved to ${move.place} on ${day}, and the move didn't finish. ` +
          'Run "npm run store -- copy" with the same --to again.',
  );
}
