import type { Foundation, Queries } from './database.ts';
import { countJobs } from './jobs.ts';

/** What is stored in all workspaces, counted for `/metrics`. */
export type Counts = Awaited<ReturnType<typeof readCounts>>;

/** Counts in a few statements over indexes, since monitors ask several times a minute. */
export async function readCounts(foundation: Foundation) {
  const { db } = foundation;
  return {
    ...(await countOperations(db)),
    passwords: await countPasswords(db),
    jobs: await countJobs(foundation),
  };
}

/** Counts the operations that haven't ended. Deletes are left out: they cost nothing, and no manager has to resolve them. */
async function countOperations(db: Queries) {
  const rows = await db
    .selectFrom('operations')
    .select(({ fn }) => ['state', fn.countAll().as('count'), fn.min('created_at').as('oldest')])
    .where('kind', '<>', 'delete')
    .where('state', 'in', ['prepared', 'sent', 'unconfirmed'])
    .groupBy('state')
    .execute();
  const count = (state: string) => Number(rows.find((row) => row.state === state)?.count ?? 0);
  const unconfirmed = rows.find(({ state }) => state === 'unconfirmed');
  return {
    operations: {
      prepared: count('prepared'),
      sent: count('sent'),
      unconfirmed: count('unconfirmed'),
    },
    /** When the oldest unconfirmed one was confirmed by its user, in epoch milliseconds. */
    oldestUnconfirmedAt: unconfirmed && Number(unconfirmed.oldest),
  };
}

async function countPasswords(db: Queries) {
  const { unsaved, unopened } = await db
    .selectFrom('passwords')
    .select(({ fn }) => [
      fn.countAll().as('unsaved'),
      fn.countAll().filterWhere('held_until', 'is', null).as('unopened'),
    ])
    .executeTakeFirstOrThrow();
  return { unsaved: Number(unsaved), unopened: Number(unopened) };
}
