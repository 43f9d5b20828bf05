import type { System } from '../system.ts';
import type { Foundation, Queries } from './engine/database.ts';

/** Anyone may ask `/readyz`, and each write is a durable commit. */
const GOOD_FOR_MS = 1000;

/** Writes and reads one row, and reads the newest of what matters: a full disk or a damaged file answers `select 1`. */
export function createPing({ db }: Foundation, system: Pick<System, 'now' | 'elapsed'>): () => Promise<void> {
  let last: { readonly at: number; readonly done: Promise<void> } | undefined;
  return () => {
    if (last && system.elapsed() - last.at < GOOD_FOR_MS) return last.done;
    // Not serializable, so that it is never in the way of a payment.
    const done = db.transaction().execute((trx) => tryOut(trx, system.now()));
    last = { at: system.elapsed(), done };
    return done;
  };
}

async function tryOut(trx: Queries, at: number): Promise<void> {
  const row = { id: 'ping', at };
  await trx
    .insertInto('pings')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute();
  await trx.selectFrom('pings').select('at').where('at', '=', at).executeTakeFirstOrThrow();
  await trx.selectFrom('operations').selectAll().orderBy('id', 'desc').limit(1).execute();
  await trx.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(1).execute();
}
