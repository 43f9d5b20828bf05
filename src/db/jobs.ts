import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import { describeDefect } from '../core/errors.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { Log } from '../log.ts';
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
export async function addJob(trx: Queries, { engine }: Foundation, job: NewJob): Promise<void> {
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

/** Removes a job that has become pointless, in the transaction that makes it so. One that is running isn't stopped. */
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

/**
 * Renews this owner's lease of a job, unless it has ended; until the transaction ends, no other process can take it. What may happen
 * only once asks in its own transaction.
 */
export async function holdsJob(
  trx: Queries,
  { engine }: Foundation,
  { kind, key, owner }: Pick<Job, 'kind' | 'key' | 'owner'>,
  now: number,
): Promise<boolean> {
  const held = await trx
    .updateTable('jobs')
    .set({ lease_until: engine.moment(now + JOB_LEASE_MS, now) })
    .where((column) => column.and({ kind, key, owner }))
    .where('lease_until', '>', engine.moment(now, now))
    .returning('key')
    .executeTakeFirst();
  return held !== undefined;
}

type JobStore = ReturnType<typeof createJobStore>;

export function createJobStore(foundation: Foundation) {
  const { db, engine } = foundation;
  return {
    add: (job: NewJob) => addJob(db, foundation, job),
    list: (kind: string, workspaceId: string) => listJobs(db, kind, workspaceId),
    /** Finds and leases what is due, in one statement. */
    leaseDue: async (owner: string, kinds: readonly string[], limit: number): Promise<readonly Job[]> => {
      if (kinds.length === 0) return [];
      const now = engine.clock.now();
      const leased = { owner, lease_until: engine.moment(now + JOB_LEASE_MS, now) };
      const rows = await db
        .updateTable('jobs')
        .set({ ...leased, asked_at: engine.moment(now, now) })
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
      return rows.map(toJob);
    },
    /**
     * Leases one job, due or not; undefined if another owner has it, or nobody asked for it. It is due from now on: if this process
     * dies, another one does it.
     */
    lease: async (kind: string, key: string, { owner, now, until }: Lease): Promise<Job | undefined> => {
      const row = await db
        .updateTable('jobs')
        .set({ owner, lease_until: engine.moment(until, now), due_at: engine.moment(now, now) })
        .where('kind', '=', kind)
        .where('key', '=', key)
        .where((column) =>
          column.or([column('lease_until', '<=', engine.moment(now, now)), column('owner', '=', owner)]),
        )
        .returningAll()
        .executeTakeFirst();
      return row && toJob(row);
    },
    renew: async (owner: string, keys: readonly string[]): Promise<void> => {
      const now = engine.clock.now();
      await db
        .updateTable('jobs')
        .set({ lease_until: engine.moment(now + JOB_LEASE_MS, now) })
        .where('owner', '=', owner)
        .where('key', 'in', keys)
        .execute();
    },
    /** Stores how far a running job has come. False if it was asked for again, or another process has it. */
    save: async ({ kind, key, owner, revision }: Job, payload: object): Promise<boolean> => {
      const saved = await db
        .updateTable('jobs')
        .set({ payload: JSON.stringify(payload) })
        .where((column) => column.and({ kind, key, owner, revision }))
        .returning('key')
        .executeTakeFirst();
      return saved !== undefined;
    },
    /** Ends a run: deletes the job, or sets when it is due again. One that was asked for in the meantime is only given back. */
    end: async (
      { kind, key, owner, revision }: Job,
      dueAt: number | undefined,
      attempts: number,
    ): Promise<void> => {
      const now = engine.clock.now();
      const given = { owner: '', lease_until: 0 };
      const isIt = (column: Columns) => column.and({ kind, key, owner });
      const asRead = (column: Columns) => column.and({ kind, key, owner, revision });
      const again = { attempts, due_at: engine.moment(dueAt ?? now, now), asked_at: engine.moment(now, now) };
      const ended =
        dueAt === undefined
          ? db.deleteFrom('jobs').where(asRead).returning('key')
          : db
              .updateTable('jobs')
              .set({ ...given, ...again })
              .where(asRead)
              .returning('key');
      if ((await ended.execute()).length > 0) return;
      await db.updateTable('jobs').set(given).where(isIt).execute();
    },
    giveBack: async (owner: string): Promise<void> => {
      await db.updateTable('jobs').set({ owner: '', lease_until: 0 }).where('owner', '=', owner).execute();
    },
  };
}

/** Times in epoch milliseconds. */
export interface Lease {
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}

export type Jobs = ReturnType<typeof createJobs>;

/** Leases, runs and ends jobs, as one of the processes that share the database. */
export function createJobs(store: JobStore, system: System, log: Log) {
  const owner = system.newId();
  const running = new Map<string, { readonly key: string; readonly ended: Promise<unknown> }>();
  const handlers = new Map<string, JobHandler>();
  let wake = new AbortController();
  let idle = new AbortController();

  /** Resolves with what the handler threw. */
  const runLeased = (job: Job, handler: JobHandler): Promise<unknown> => {
    const name = nameOf(job);
    const ended = runOne(job, handler).finally(() => {
      running.delete(name);
      if (running.size === 0) idle.abort();
    });
    running.set(name, { key: job.key, ended });
    if (running.size === 1) {
      idle = new AbortController();
      void renewLeases();
    }
    return ended;
  };

  const runOne = async (job: Job, handler: JobHandler): Promise<unknown> => {
    let failure: unknown;
    let next: { readonly dueAt: number | undefined; readonly attempts: number };
    try {
      next = { dueAt: await handler(job), attempts: 0 };
    } catch (error) {
      failure = error;
      log.warn('a job failed', { kind: job.kind, job: job.key, ...describeDefect(error) });
      const attempts = job.attempts + 1;
      const waitMs = Math.min(POLL_MS * 2 ** Math.min(attempts, 20), LONGEST_BACK_OFF_MS);
      next = { dueAt: system.now() + waitMs, attempts };
    }
    await store.end(job, next.dueAt, next.attempts).catch((error: unknown) => {
      log.warn('a job could not be ended', { ...describeDefect(error), job: nameOf(job) });
    });
    return failure;
  };

  /** Renews leases for as long as anything runs. One that can't be renewed ends by itself; the next turn tries again. */
  const renewLeases = async (): Promise<void> => {
    while (running.size > 0) {
      await system.sleep(JOB_LEASE_MS / 3, idle.signal).catch(() => undefined);
      const keys = [...running.values()].map(({ key }) => key);
      if (keys.length === 0) return;
      await store
        .renew(owner, keys)
        .catch((error: unknown) => log.warn('leases of jobs could not be renewed', describeDefect(error)));
    }
  };

  const startDue = async (): Promise<readonly Promise<unknown>[]> => {
    const jobs = await store.leaseDue(owner, [...handlers.keys()], MOST_AT_ONCE);
    return jobs.flatMap((job) => {
      const handler = handlers.get(job.kind);
      // One that this process is still working on only has its lease renewed by that.
      return handler && !running.has(nameOf(job)) ? [runLeased(job, handler)] : [];
    });
  };

  return {
    /** Says what does each kind. Jobs of other kinds wait. */
    handle: (which: JobHandlers): void => {
      for (const [kind, handler] of Object.entries(which)) handlers.set(kind, handler);
    },
    /** Does what is due, until it is aborted; then waits for what is running, and gives the rest back. */
    run: async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) {
        const started = await startDue().catch((error: unknown) => {
          log.error('due jobs could not be read', describeDefect(error));
          return [];
        });
        if (started.length === MOST_AT_ONCE) continue;
        wake = new AbortController();
        await system.sleep(POLL_MS, AbortSignal.any([signal, wake.signal])).catch(() => undefined);
      }
      while (running.size > 0) await Promise.all([...running.values()].map(({ ended: each }) => each));
      await store.giveBack(owner).catch(() => undefined);
    },
    /** Does once what is due now, and waits for it. */
    runDue: async (): Promise<void> => {
      await Promise.all(await startDue());
    },
    /** Looks for what is due at once: something was committed that need not wait for the next look. */
    nudge: () => wake.abort(),
    /**
     * Does this job now, whether it is due or not, by this handler, and waits until it has run. False if another process is doing
     * it, or nobody asked for it.
     * @throws what the handler throws; then it is tried again later
     */
    runNow: async (kind: string, key: string, handler = handlers.get(kind)): Promise<boolean> => {
      const name = nameOf({ kind, key });
      if (running.has(name) || !handler) return false;
      const now = system.now();
      const job = await store.lease(kind, key, { owner, now, until: now + JOB_LEASE_MS });
      if (!job || running.has(name)) return false;
      const failure = await runLeased(job, handler);
      if (failure !== undefined) throw failure;
      return true;
    },
    save: store.save,
  };
}

/** Counts the jobs of each kind: those that are due and that no process is running, and those that failed and will be retried. */
export async function countJobs(foundation: Foundation) {
  const now = foundation.engine.clock.now();
  const rows = await foundation.db
    .selectFrom('jobs')
    .select(({ fn }) => [
      'kind',
      fn
        .countAll()
        .filterWhere((column) => isDue(column, foundation, now))
        .as('due'),
      fn.countAll().filterWhere('attempts', '>', 0).as('failing'),
    ])
    .groupBy('kind')
    .execute();
  return rows.map(({ kind, due, failing }) => ({ kind, due: Number(due), failing: Number(failing) }));
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

function nameOf({ kind, key }: Pick<Job, 'kind' | 'key'>): string {
  return `${kind} ${key}`;
}

function toJob({ workspace_id: workspaceId, payload, ...row }: JobRow): Job {
  const { kind, key, revision, attempts, owner } = row;
  return { kind, key, workspaceId, payload: JSON.parse(payload), revision, attempts, owner };
}
