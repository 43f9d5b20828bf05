import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { ApiCalls, SlotLimits } from '../hosting/hosting-api.ts';
import type { Engine, Foundation, Queries } from './database.ts';
import type { Tables } from './tables.ts';

interface Wanted extends SlotLimits {
  readonly slot: Parameters<ApiCalls['take']>[0];
  readonly freed: readonly string[];
}

/** The taken slots, stored durably. A burst of 300 calls takes one commit instead of 300, and so does its end. */
export function createApiCalls(foundation: Foundation): ApiCalls {
  const { db, engine } = foundation;
  const take = together((wanted: readonly Wanted[]) => takeSlots(foundation, wanted));
  const release = together(
    async (freed: readonly { readonly ids: readonly string[]; readonly maxHoldMs: number }[]) => {
      const ids = freed.flatMap((one) => one.ids);
      await db
        .deleteFrom('api_calls')
        .where((column) => column.or([column('id', 'in', ids), column.not(mayBeHeld(column, engine, freed))]))
        .execute();
    },
  );

  return {
    take: async (slot, limits, freed = []) => (await take([{ slot, ...limits, freed }])).has(slot.id),
    release: async (ids, maxHoldMs) => {
      if (ids.length > 0) await release([{ ids, maxHoldMs }]);
    },
    listTaken: async (name) => {
      const rows = await db
        .selectFrom('api_calls')
        .select('id')
        .where((column) => column.or([column('account', '=', name), column('workspace_id', '=', name)]))
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
  return engine.transact(db, async (trx) => {
    const freed = wanted.flatMap((one) => one.freed);
    if (freed.length > 0) await trx.deleteFrom('api_calls').where('id', 'in', freed).execute();
    const taken = await countTaken(trx, engine, wanted);
    const granted = wanted.filter((one) => grant(one, taken));
    if (granted.length > 0)
      await trx
        .insertInto('api_calls')
        .values(
          granted.map(({ slot: { id, account, workspaceId } }) => ({
            id,
            account: account[0],
            workspace_id: workspaceId,
            at: atNow(engine),
          })),
        )
        .execute();
    return new Set(granted.map(({ slot }) => slot.id));
  });
}

/** How many slots a workspace holds with a key. */
interface Taken {
  readonly account: string;
  readonly workspaceId: string;
  count: number;
}

async function countTaken(trx: Queries, engine: Engine, wanted: readonly Wanted[]): Promise<Taken[]> {
  const accounts = [...new Set(wanted.flatMap(({ slot }) => slot.account))];
  const workspaces = [...new Set(wanted.map(({ slot }) => slot.workspaceId))];
  const rows = await trx
    .selectFrom('api_calls')
    .select(['account', 'workspace_id', ({ fn }) => fn.countAll<number>().as('count')])
    .where((column) =>
      column.or([column('account', 'in', accounts), column('workspace_id', 'in', workspaces)]),
    )
    .where((column) => mayBeHeld(column, engine, wanted))
    .groupBy(['account', 'workspace_id'])
    .execute();
  return rows.map((row) => ({ ...row, workspaceId: row.workspace_id, count: Number(row.count) }));
}

/** Whether a slot is free for its account, by all its names, and for its workspace. Counts it as taken if so. */
function grant({ slot: { account, workspaceId }, limit }: Wanted, taken: Taken[]): boolean {
  const count = (isSame: (one: Taken) => boolean) =>
    taken.filter(isSame).reduce((sum, one) => sum + one.count, 0);
  if (count((one) => account.includes(one.account)) >= limit) return false;
  if (workspaceId !== '' && count((one) => one.workspaceId === workspaceId) >= limit) return false;
  const own = taken.find((one) => one.account === account[0] && one.workspaceId === workspaceId);
  if (own) own.count++;
  else taken.push({ account: account[0], workspaceId, count: 1 });
  return true;
}

/**
 * Whether a slot is young enough to be held: the owner of an older one has died. A slot from the future was taken before the clock
 * was set back. It counts until it is old enough, or not at all if that would take longer than a slot can be held. Setting the
 * clock forward ends slots early, too. The API refuses the calls that this lets through too early.
 */
function mayBeHeld(
  column: ExpressionBuilder<Tables, 'api_calls'>,
  engine: Engine,
  limits: readonly Pick<SlotLimits, 'maxHoldMs'>[],
): Expression<SqlBool> {
  // All limiters of a process have the same.
  const maxHoldMs = Math.max(...limits.map((each) => each.maxHoldMs));
  const now = engine.clock.now();
  return column.and([
    column('at', '>', engine.moment(now - maxHoldMs, now)),
    column('at', '<=', engine.moment(now + maxHoldMs, now)),
  ]);
}

/** Read in the statement on PostgreSQL and in the transaction on SQLite, since a process may wait for the database before. */
function atNow(engine: Engine): Expression<number> {
  const now = engine.clock.now();
  return engine.moment(now, now);
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
