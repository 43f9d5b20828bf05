import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import { describeDefect } from '../core/errors.ts';
import { MINUTE_MS } from '../core/time.ts';
import { type Log, silentLog } from '../log.ts';
import type { System } from '../system.ts';
import type { Foundation, Queries } from './database.ts';
import type { JobRow, Tables } from './tables.ts';

/**
 * Work that has to happen later, at least once, whatever crashes (docs/design.md 7.9). It is stored in the transaction of the
 * change that it follows, so that a crash can't lose it, and any process that shares the database may do it.
 */
interface NewJob {
  readonly kind: string;
  /** Names the job within its kind; a job asked for again is the same one. */
  readonly key: string;
  readonly workspaceId: string;
  /** Stored as JSON. IDs, and what was sealed; never a secret. */
  readonly payload?: object;
  /** Epoch milliseconds. */
  readonly dueAt: number;
}

/** A job that this process has leased. */
export interface Job {
  readonly kind: string;
  readonly key: string;
  readonly workspaceId: string;
  readonly payload: unknown;
  /** Increments when it is asked for again. */
  readonly revision: number;
  /** How often it has failed since it last succeeded, or was asked for. */
  readonly attempts: number;
  readonly owner: string;
}

/**
 * Does one kind of job. It may run twice, so what it follows decides whether anything is left to do.
 * @returns when it is due again, in epoch milliseconds; undefined when it is done
 * @throws anything: then it is tried again, ever more rarely, without end
 */
export type JobHandler = (job: Job) => Promise<number | undefined>;
export type JobHandlers = Readonly<Record<string, JobHandler>>;

/** How long a job stays with a process that has died. A living one renews its leases three times as often. */
export const JOB_LEASE_MS = 30_000;
/** How often an idle process looks for what is due. */
const POLL_MS = 1000;
const MOST_AT_ONCE = 50;
const LONGEST_BACK_OFF_MS = 5 * MINUTE_MS;
/** How far two readings of the clock may differ without it having been set back. */
const CLOCK_SLACK_MS = 10_000;

/**
 * Asks for a job, in the transaction of what it follows. One that is there already gets the new payload and time, and runs again
 * if it is running now.
 */
export async function addJob(
  trx: Queries,
  { engine }: Pick<Foundation, 'engine'>,
  job: NewJob,
): Promise<void> {
  const { kind, key, workspaceId, payload = {}, dueAt } = job;
  const now = engine.clock.now();
  const asked = {
    payload: JSON.stringify(payload),
    due_at: engine.moment(dueAt, now),
    asked_at: engine.moment(now, now),
    attempts: 0,
  };
  await trx
    .insertInto('jobs')
    .values({ kind, key, workspace_id: workspaceId, revision: 1, owner: '', lease_until: 0, ...asked })
    .onConflict((conflict) =>
      conflict
        .columns(['kind', 'key'])
        .doUpdateSet((column) => ({ ...asked, revision: column('jobs.revision', '+', 1) })),
    )
    .execute();
}

/** Removes a job that has become pointless, in the transaction that makes it so. One that runs now ends as it does. */
export async function removeJob(trx: Queries, kind: string, key: string): Promise<void> {
  await trx.deleteFrom('jobs').where('kind', '=', kind).where('key', '=', key).execute();
}

/** Changes what a job carries, not when it is due. One that runs now runs again. */
export async function changeJob(trx: Queries, kind: string, key: string, payload: object): Promise<void> {
  await trx
    .updateTable('jobs')
    .set((column) => ({ payload: JSON.stringify(payload), revision: column('revision', '+', 1) }))
    .where('kind', '=', kind)
    .where('key', '=', key)
    .execute();
}

/** The jobs of a kind: in one workspace, or of one key. */
export async function listJobs(
  db: Queries,
  kind: string,
  workspaceId: string | undefined,
  key?: string,
): Promise<readonly Job[]> {
  const rows = await db
    .selectFrom('jobs')
    .selectAll()
    .where('kind', '=', kind)
    .$if(workspaceId !== undefined, (jobs) => jobs.where('workspace_id', '=', workspaceId ?? ''))
    .$if(key !== undefined, (jobs) => jobs.where('key', '=', key ?? ''))
    .execute();
  return rows.map(toJob);
}

export type Jobs = ReturnType<typeof createJobs>;

/** Leases, runs and ends jobs, as one of the processes that share the database. */
export function createJobs(foundation: Foundation, system: Pick<System, 'sleep'>) {
  const { db, engine, newId } = foundation;
  const owner = newId();
  const running = new Map<string, { readonly key: string; readonly ended: Promise<void> }>();
  const handlers = new Map<string, JobHandler>();
  let wake = new AbortController();
  let log = silentLog;

  const runLeased = (row: JobRow, work = handlers.get(row.kind)): Promise<void> => {
    const name = nameOf(row);
    const ended = runOne(toJob(row), work)
      .catch((error: unknown) =>
        log.warn('a job could not be ended', { ...describeDefect(error), job: name }),
      )
      .finally(() => running.delete(name));
    running.set(name, { key: row.key, ended });
    return ended;
  };

  const runOne = async (job: Job, work: JobHandler | undefined): Promise<void> => {
    let next: { readonly dueAt: number | undefined; readonly attempts: number };
    try {
      next = { dueAt: await work?.(job), attempts: 0 };
    } catch (error) {
      log.warn('a job failed', { kind: job.kind, job: job.key, ...describeDefect(error) });
      const attempts = job.attempts + 1;
      const waitMs = Math.min(POLL_MS * 2 ** Math.min(attempts, 20), LONGEST_BACK_OFF_MS);
      next = { dueAt: engine.clock.now() + waitMs, attempts };
    }
    await endJob(foundation, job, next.dueAt, next.attempts);
  };

  /** A lease that can't be renewed ends by itself; the next turn tries again. */
  const renewLeases = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await system.sleep(JOB_LEASE_MS / 3, signal).catch(() => undefined);
      if (running.size === 0) continue;
      const now = engine.clock.now();
      await db
        .updateTable('jobs')
        .set({ lease_until: engine.moment(now + JOB_LEASE_MS, now) })
        .where('owner', '=', owner)
        .where(
          'key',
          'in',
          [...running.values()].map(({ key }) => key),
        )
        .execute()
        .catch((error: unknown) => log.warn('leases of jobs could not be renewed', describeDefect(error)));
    }
  };

  const startDue = async (): Promise<boolean> => {
    const rows = await leaseDue(foundation, owner, [...handlers.keys()], MOST_AT_ONCE);
    // One that this process is still working on only has its lease renewed by that.
    for (const row of rows) if (!running.has(nameOf(row))) void runLeased(row);
    return rows.length === MOST_AT_ONCE;
  };

  return {
    /** Says what does each kind, and where failures are reported. Jobs of other kinds wait. */
    handle: (which: JobHandlers, reportTo: Log): void => {
      log = reportTo;
      for (const [kind, handler] of Object.entries(which)) handlers.set(kind, handler);
    },
    /** Does what is due, until it is aborted; then waits for what is running, and gives the rest back. */
    run: async (signal: AbortSignal): Promise<void> => {
      const ended = new AbortController();
      const renewing = renewLeases(ended.signal);
      while (!signal.aborted) {
        const hasMore = await startDue().catch((error: unknown) => {
          log.error('jobs could not be looked for', describeDefect(error));
          return false;
        });
        if (hasMore) continue;
        wake = new AbortController();
        await system.sleep(POLL_MS, AbortSignal.any([signal, wake.signal])).catch(() => undefined);
      }
      while (running.size > 0) await Promise.all([...running.values()].map(({ ended: each }) => each));
      ended.abort();
      await renewing;
      const given = db.updateTable('jobs').set({ owner: '', lease_until: 0 }).where('owner', '=', owner);
      await given.execute().catch(() => undefined);
    },
    /** Looks for what is due at once: something was committed that need not wait for the next look. */
    nudge: () => wake.abort(),
    /**
     * Does this job now, whether it is due or not, and waits until it has run. False if somebody is at it, or nobody asked for
     * it. `work`: what this run of it does in place of its kind's handler, which goes on if this process dies.
     */
    runNow: async (kind: string, key: string, work = handlers.get(kind)): Promise<boolean> => {
      const name = nameOf({ kind, key });
      if (running.has(name) || !work) return false;
      const row = await leaseOne(foundation, owner, kind, key);
      if (!row || running.has(name)) return false;
      await runLeased(row, work);
      return true;
    },
    /** Stores how far a running job has come. False if it was asked for again, or another process has it. */
    save: async ({ kind, key, revision }: Job, payload: object): Promise<boolean> => {
      const saved = await db
        .updateTable('jobs')
        .set({ payload: JSON.stringify(payload) })
        .where('kind', '=', kind)
        .where('key', '=', key)
        .where('owner', '=', owner)
        .where('revision', '=', revision)
        .returning('key')
        .executeTakeFirst();
      return saved !== undefined;
    },
    add: (job: NewJob) => addJob(db, foundation, job),
    list: (kind: string, workspaceId: string) => listJobs(db, kind, workspaceId),
    remove: (kind: string, key: string) => removeJob(db, kind, key),
  };
}

type Columns = ExpressionBuilder<Tables, 'jobs'>;

/** Free, and due: by its time, or because the clock was set back since it was asked for. A stepped clock only asks sooner. */
function isDue(column: Columns, { engine }: Foundation, now: number): Expression<SqlBool> {
  return column.and([
    column('lease_until', '<=', engine.moment(now, now)),
    column.or([
      column('due_at', '<=', engine.moment(now, now)),
      column('asked_at', '>', engine.moment(now + CLOCK_SLACK_MS, now)),
    ]),
  ]);
}

/** Finds and takes in one statement. */
async function leaseDue(
  foundation: Foundation,
  owner: string,
  kinds: readonly string[],
  limit: number,
): Promise<readonly JobRow[]> {
  const { db, engine } = foundation;
  if (kinds.length === 0) return [];
  const now = engine.clock.now();
  return db
    .updateTable('jobs')
    .set({ owner, lease_until: engine.moment(now + JOB_LEASE_MS, now), asked_at: engine.moment(now, now) })
    .where((column) => isDue(column, foundation, now))
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('kind', 'key'),
        'in',
        selectFrom('jobs')
          .select(['kind', 'key'])
          .where('kind', 'in', kinds)
          .where((column) => isDue(column, foundation, now))
          .orderBy('due_at')
          .limit(limit)
          .$if(engine.skipsLockedRows, (rows) => rows.forUpdate().skipLocked())
          .$asTuple('kind', 'key'),
      ),
    )
    .returningAll()
    .execute();
}

/** It is due from now on: if this process dies, another one does it. */
async function leaseOne(
  { db, engine }: Foundation,
  owner: string,
  kind: string,
  key: string,
): Promise<JobRow | undefined> {
  const now = engine.clock.now();
  return db
    .updateTable('jobs')
    .set({ owner, lease_until: engine.moment(now + JOB_LEASE_MS, now), due_at: engine.moment(now, now) })
    .where('kind', '=', kind)
    .where('key', '=', key)
    .where('lease_until', '<=', engine.moment(now, now))
    .returningAll()
    .executeTakeFirst();
}

/** Deletes a job that is done, or sets when it is due again. One that was asked for meanwhile is only given back. */
async function endJob(
  { db, engine }: Foundation,
  { kind, key, owner, revision }: Job,
  dueAt: number | undefined,
  attempts: number,
): Promise<void> {
  const now = engine.clock.now();
  const given = { owner: '', lease_until: 0 };
  const isIt = (column: Columns) => column.and({ kind, key, owner });
  if (dueAt === undefined) {
    const gone = await db
      .deleteFrom('jobs')
      .where(isIt)
      .where('revision', '=', revision)
      .returning('key')
      .execute();
    if (gone.length > 0) return;
  } else {
    const again = {
      ...given,
      attempts,
      due_at: engine.moment(dueAt, now),
      asked_at: engine.moment(now, now),
    };
    const set = await db
      .updateTable('jobs')
      .set(again)
      .where(isIt)
      .where('revision', '=', revision)
      .returning('key')
      .execute();
    if (set.length > 0) return;
  }
  await db.updateTable('jobs').set(given).where(isIt).execute();
}

function nameOf({ kind, key }: Pick<JobRow, 'kind' | 'key'>): string {
  return `${kind} ${key}`;
}

function toJob({ workspace_id: workspaceId, payload, ...row }: JobRow): Job {
  const { kind, key, revision, attempts, owner } = row;
  return { kind, key, workspaceId, payload: JSON.parse(payload), revision, attempts, owner };
}
