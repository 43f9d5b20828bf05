import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { ApiCalls, SlotLimits } from '../hosting/hosting-api.ts';
import type { Foundation } from './database.ts';
import type { Engine } from './engine.ts';
import type { Tables } from './tables.ts';

/** A requested slot, and its account's limits. */
interface Wanted extends SlotLimits {
  readonly slot: Parameters<ApiCalls['take']>[0];
  readonly freed: readonly string[];
}

/** The taken slots, stored durably. A burst of 300 calls takes one commit instead of 300, and so does its end. */
export function createApiCalls(foundation: Foundation): ApiCalls {
  const { db, engine } = foundation;
  const take = together((wanted: readonly Wanted[]) => takeSlots(foundation, wanted));
  const release = together(async (ids: readonly string[]) => {
    await db.deleteFrom('api_calls').where('id', 'in', ids).execute();
  });

  return {
    take: async (slot, limits, freed = []) => (await take([{ slot, ...limits, freed }])).has(slot.id),
    takeAgain: async (old, id) => {
      const at = atNow(engine);
      const query = db.updateTable('api_calls').set({ id, at }).where('id', '=', old).returning('id');
      return (await query.executeTakeFirst()) !== undefined;
    },
    release: async (ids) => {
      if (ids.length > 0) await release(ids);
    },
    listTaken: async (account) => {
      const rows = await db
        .selectFrom('api_calls')
        .select('id')
        .where('account', '=', account)
        .orderBy('id')
        .execute();
      return rows.map((row) => row.id);
    },
  };
}

/** Takes free slots, first come, first served; returns the IDs of the slots that were taken. */
async function takeSlots(
  { db, engine }: Foundation,
  wanted: readonly Wanted[],
): Promise<ReadonlySet<string>> {
  // SQLite allows one writing transaction at a time, so two processes can't both take the last slot.
  return engine.transact(db, async (transaction) => {
    await transaction
      .deleteFrom('api_calls')
      .where((column) => isOver(column, engine, wanted))
      .execute();
    const counts = await transaction
      .selectFrom('api_calls')
      .select(['account', ({ fn }) => fn.countAll<number>().as('taken')])
      .where('account', 'in', accountsOf(wanted))
      .groupBy('account')
      .execute();
    const taken = new Map(counts.map((row) => [row.account, Number(row.taken)]));
    const granted = wanted.filter(({ slot, limit }) => {
      const before = taken.get(slot.account) ?? 0;
      if (before < limit) taken.set(slot.account, before + 1);
      return before < limit;
    });
    if (granted.length > 0)
      await transaction
        .insertInto('api_calls')
        .values(granted.map(({ slot }) => ({ ...slot, at: atNow(engine) })))
        .execute();
    return new Set(granted.map(({ slot }) => slot.id));
  });
}

/**
 * Slots that their owners give back, and slots of these accounts that are older than any call can be: their owners died. A slot
 * from the future was taken before the clock was set back. It counts until it is old enough, or ends at once if that would take
 * longer than a slot can be held. Setting the clock forward ends slots early, too. The API refuses the calls that this lets
 * through too early.
 */
function isOver(
  column: ExpressionBuilder<Tables, 'api_calls'>,
  engine: Engine,
  wanted: readonly Wanted[],
): Expression<SqlBool> {
  const now = engine.clock.now();
  const freed = wanted.flatMap((one) => one.freed);
  // All limiters of a process have the same.
  const maxHoldMs = Math.max(...wanted.map((one) => one.maxHoldMs));
  const isLeft = column.and([
    column('account', 'in', accountsOf(wanted)),
    column.or([
      column('at', '<=', engine.moment(now - maxHoldMs, now)),
      column('at', '>', engine.moment(now + maxHoldMs, now)),
    ]),
  ]);
  return freed.length > 0 ? column.or([column('id', 'in', freed), isLeft]) : isLeft;
}

/** Read in the statement on PostgreSQL and in the transaction on SQLite, since a process may wait for the database before. */
function atNow(engine: Engine): Expression<number> {
  const now = engine.clock.now();
  return engine.moment(now, now);
}

function accountsOf(wanted: readonly Wanted[]): readonly string[] {
  return [...new Set(wanted.map(({ slot }) => slot.account))];
}

/** Collects requests until the end of this turn of the event loop, then handles all of them at once. */
function together<Item, Result>(
  work: (items: readonly Item[]) => Promise<Result>,
): (items: readonly Item[]) => Promise<Result> {
  let waiting: Item[] = [];
  let running: Promise<Result> | undefined;
  const run = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    const items = waiting;
    waiting = [];
    running = undefined;
    return work(items);
  };
  return (items) => {
    waiting.push(...items);
    running ??= run();
    return running;
  };
}
