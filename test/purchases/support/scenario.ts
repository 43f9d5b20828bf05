import { AsyncLocalStorage } from 'node:async_hooks';
import type { AppContext, Store } from '../../../src/context.ts';
import { type Caller, createEntry } from '../../../src/core/entry.ts';
import { DatabaseUnreachable } from '../../../src/core/errors.ts';
import { money } from '../../../src/core/money.ts';
import { Secret } from '../../../src/core/secret.ts';
import { CommitUnknown } from '../../../src/db/database.ts';
import { openStore } from '../../../src/db/open-store.ts';
import type { HostingApi } from '../../../src/hosting/hosting-api.ts';
import { type Confirmed, confirmPurchase } from '../../../src/purchases/confirm.ts';
import { decideUnconfirmed } from '../../../src/purchases/decide.ts';
import type { Operation, Purchase } from '../../../src/purchases/operation.ts';
import type { OperationNotifier } from '../../../src/purchases/outcomes.ts';
import type { HeldPassword } from '../../../src/purchases/password-store.ts';
import { erasePassword, showPassword } from '../../../src/purchases/passwords.ts';
import { createOperationHandler } from '../../../src/purchases/pay.ts';
import type { DeleteOperation } from '../../../src/servers/deletion.ts';
import { createIds, realSystem, type System } from '../../../src/system.ts';
import { T0, vault } from '../../db/fixtures.ts';
import { fallAsleep, type Sleeper } from '../../support/clocks.ts';
import { MEMBER, makeContext } from '../../support/context.ts';
import { never, openWatched, type Statement, type Watch, type Watched } from '../../support/statements.ts';
import { MONTH_MS, ScriptedHosting } from './scripted-hosting.ts';

/** What the user was told, in order; `sent` is how many paid requests had left by then. */
interface Told {
  readonly operation: Operation;
  readonly password: string | undefined;
  readonly sent: number;
}

/** One order of one user, over as many processes as it takes. */
export type Scenario = Awaited<ReturnType<typeof openScenario>>;

export const ID = '01K5CONFIRMATION0000000000';
export const OTHER_ID = '01K5CONFIRMATION0000000001';

export const CREATE = {
  kind: 'create',
  order: { plan: 's1', location: 'ams', image: 'debian-12', label: 'web-1' },
} as const satisfies Purchase;

export const RENEWAL = {
  kind: 'renew',
  serverId: 1,
  label: 'db-1',
  paidUntil: T0 + MONTH_MS,
} as const satisfies Purchase;

/** The account is connected, and nothing is ordered yet. */
export async function openScenario() {
  const clock = createHandClock();
  const database = createMortalDatabase();
  const { openEngine } = database;
  const store = await openStore({
    databaseUrl: 'sqlite::memory:',
    vault,
    system: clock.system(),
    openEngine,
  });
  const hosting = new ScriptedHosting(clock);
  const told: Told[] = [];
  const unsavedDeletes: string[] = [];
  const toldDeletes: { operation: DeleteOperation; by: string | undefined }[] = [];
  await store.workspaces.put({ id: 'T1', name: 'Acme' });
  await store.apiKeys.put('T1', new Secret('api-key'), 'U1', T0 - 1);
  const notifier = {
    notify: async (operation: Operation, held?: { readonly password: Secret<string> }) => {
      told.push({ operation, password: held?.password.reveal(), sent: hosting.requests.length });
      return true;
    },
    announceStart: () => undefined,
    notifyLowBalance: async () => undefined,
    notifyQueued: async () => undefined,
    notifyUnsaved: async () => undefined,
  };
  const deleteNotifier = {
    notify: async (operation: DeleteOperation, by: string | undefined) =>
      toldDeletes.push({ operation, by }) > 0,
    notifyUnsaved: async ({ id }: DeleteOperation) => void unsavedDeletes.push(id),
  };
  const around = { clock, database, store, hosting: hosting.api, notifier, deleteNotifier };
  const find = (id = ID) => store.ledger.find(id);
  const isOver = async () => {
    const { notifiedAt, endedAt, needsDecision } = (await find()) ?? {};
    return notifiedAt !== undefined && (endedAt !== undefined || needsDecision === true);
  };
  return {
    clock,
    database,
    store,
    hosting,
    told,
    /** What users were told of deletes, in order; by whom each was approved. */
    toldDeletes,
    unsavedDeletes,
    find,
    /** Lets the background of a process work until the order has ended or waits for a manager, and its user knows. */
    settle: (process: MortalProcess) => process.runBackground(async () => !(await find()) || isOver()),
    /** Lets so much time pass while the process looks for what is due. */
    pass: async (process: MortalProcess, ms: number) => {
      const until = clock.now() + ms;
      await process.runBackground(async () => clock.now() >= until, Math.max(15_000, ms / 90));
    },
    /** In which states the user was told that the order is. */
    statesTold: () => told.map(({ operation }) => operation.state),
    /** How many paid requests have left. */
    sent: () => hosting.requests.length,
    start: (fate?: Fate, owners?: readonly string[]) => startProcess(around, fate, owners),
    close: () => store.close(),
  };
}

export const callerOf = (userId: string, workspaceId = 'T1'): Caller => ({
  actor: { workspaceId, userId, channelId: 'C1' },
  surface: 'modal',
});

/** A press of **Create and pay** or **Renew and pay**, and everything that it sets off. */
export async function press(
  process: MortalProcess,
  purchase: Purchase = CREATE,
  {
    id = ID,
    userId = 'U1',
    workspaceId = 'T1',
  }: Partial<Record<'id' | 'userId' | 'workspaceId', string>> = {},
): Promise<Confirmed | undefined> {
  let confirmed: Confirmed | undefined;
  const confirmation = { id, purchase, price: money(499) };
  const work = async () => {
    confirmed = await process.entry.execute(confirmPurchase, confirmation, callerOf(userId, workspaceId));
    await process.entry.drain();
  };
  await process.run(work());
  return confirmed;
}

/** A manager decides what became of an unconfirmed order. */
export async function decide(
  process: MortalProcess,
  decision: { readonly serverId?: number; readonly isDoneElsewhere?: boolean },
  caller = callerOf('U2'),
): Promise<void> {
  const input = { operationId: ID, ...decision };
  await process.run(process.entry.execute(decideUnconfirmed, input, caller));
}

/** The creator asks for the password. */
export async function show(process: MortalProcess, userId = 'U1'): Promise<string | undefined> {
  let shown: string | undefined;
  const work = async () => {
    const show = async ({ password }: HeldPassword) => {
      shown = password.reveal();
      return true;
    };
    await process.entry.execute(showPassword, { ref: { typed: 'web-1' }, show }, callerOf(userId));
  };
  await process.run(work());
  return shown;
}

/** The creator has saved the password. */
export async function save(process: MortalProcess): Promise<void> {
  await process.run(process.entry.execute(erasePassword, { operationId: ID }, callerOf('U1')));
}

export type HandClock = ReturnType<typeof createHandClock>;

/** The longest time that one piece of work may take. */
const LONGEST_MS = 30 * 60_000;

/** A clock that stands until a test moves it. It outlives the processes that sleep by it. */
function createHandClock() {
  let elapsed = T0;
  let wallOffset = 0;
  const now = () => elapsed + wallOffset;
  const sleepers = new Set<Sleeper>();
  const wakeNext = async (until: number) => {
    const [next] = [...sleepers].filter((sleeper) => sleeper.until <= until).sort(byTime);
    if (!next) return false;
    elapsed = Math.max(elapsed, next.until);
    sleepers.delete(next);
    next.wake();
    await settle();
    return true;
  };
  const sleep = (ms: number, signal?: AbortSignal) => fallAsleep(sleepers, elapsed + ms, signal);
  return {
    now,
    sleep,
    /** Sets the wall clock forward, or back by a negative number; no time passes. */
    step: (ms: number) => {
      wallOffset += ms;
    },
    /** Moves on by so many milliseconds, waking every sleeper at its time. */
    pass: async (ms: number) => {
      const until = elapsed + ms;
      while (await wakeNext(until)) {}
      elapsed = until;
    },
    /** Runs the work, moving on to the next sleeper whenever everything waits; ends early when `isOver`. */
    run: (work: Promise<unknown>, isOver = () => false) => runWork(work, isOver, wakeNext, () => elapsed),
    /** The system of one process. */
    system: (): System => ({
      ...realSystem,
      now,
      elapsed: () => elapsed,
      sleep,
      newId: createIds(now, Math.random),
    }),
  };
}

async function runWork(
  work: Promise<unknown>,
  isOver: () => boolean,
  wakeNext: (until: number) => Promise<boolean>,
  now: () => number,
): Promise<void> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  ended.catch(() => undefined);
  await settle();
  for (const startedAt = now(); !isDone && !isOver(); ) {
    if (now() - startedAt > LONGEST_MS) throw new Error('the work never ends');
    if (!(await wakeNext(Number.POSITIVE_INFINITY))) throw new Error('the work waits for nothing');
  }
  if (isDone) await ended;
}

const byTime = (a: Sleeper, b: Sleeper) => a.until - b.until;

/** Lets everything happen that waits for promises alone. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/**
 * What happens to a process at one of its steps: by number, from 1, or by name, the first time. Before and after each
 * write, commit, request and notification is a step.
 */
export type Fate =
  | { readonly kind: 'lives' }
  /** Nothing of the process runs after this step, as with `kill -9`: what it has not committed is undone. */
  | { readonly kind: 'killed'; readonly at: Step }
  /**
   * The database throws at this step, and for so long after it. After a commit, it was committed all the same. Its
   * statements are the steps, and before each of those that only read is one, too.
   */
  | { readonly kind: 'database_fails'; readonly at: Step; readonly forMs: number };

/** `3`, or `after commit of sent`: by the states that the transaction gave to operations and approvals. */
type Step = number | string;

/** An order is written, and nothing of it is sent. */
export const KILLED_UNSENT = { kind: 'killed', at: 'after commit of prepared' } as const satisfies Fate;

/** What processes share: what outlives them. */
interface Surroundings {
  readonly clock: HandClock;
  readonly database: ReturnType<typeof createMortalDatabase>;
  readonly store: Store;
  readonly hosting: HostingApi;
  readonly notifier: OperationNotifier;
  readonly deleteNotifier: AppContext['deleteNotifier'];
}

/** One process of the app, over a store that may outlive it. */
export type MortalProcess = ReturnType<typeof startProcess>;

function startProcess(
  around: Surroundings,
  fate: Fate = { kind: 'lives' },
  owners: readonly string[] = ['U1', 'U2'],
) {
  const { clock, store, database } = around;
  const life = createLife(clock, fate);
  const system = clock.system();
  const ports = makeContext(
    { ...store, spill: life.watch('spill', store.spill) },
    {
      system,
      ownersOf: () => owners,
      users: { find: async () => MEMBER, exists: async () => 'yes' },
      // Each key is another account.
      hostingOf: (key) => life.watch('hosting', { ...around.hosting, account: vault.namesOf(key) }),
      operationNotifier: life.watch('notifier', around.notifier),
      deleteNotifier: life.watch('notifier', around.deleteNotifier),
      settings: { unconfirmedMs: 60_000, passwordHoldMs: 3_600_000, auditKeepDays: undefined },
    },
  );
  const entry = database.belongingTo(life, createEntry(ports));
  ports.jobs.handle({ operation: createOperationHandler(ports) });
  const background = database.belongingTo(life, { moveOn: () => ports.jobs.runDue() });
  return {
    ports,
    entry,
    /** What was done until now: its last entry is where a killed process died. */
    steps: life.steps,
    isDead: life.isDead,
    /** Whether its fate has struck. */
    isStruck: life.isStruck,
    /** Lets the work run until it ends or the process dies. */
    run: (work: Promise<unknown>) => clock.run(work, life.isDead),
    /** Moves on what is due, as the background does, until that is so. */
    runBackground: async (until: () => Promise<boolean>, tickMs = TICK_MS) => {
      for (let ticks = 0; !life.isDead() && !(await until()); ticks++) {
        if (ticks > MOST_TICKS) throw new Error('the background never comes to an end');
        // A database that fails is asked again at the next tick.
        await clock.run(background.moveOn(), life.isDead).catch(() => undefined);
        if (!life.isDead()) await clock.pass(tickMs);
      }
    },
  };
}

/** Longer than the app's, to be quick: what is due is due a little later. */
const TICK_MS = 15_000;

const MOST_TICKS = 100;

/** Calls that change nothing outside of the process. */
const READS = /^(find|list|sum|count|fetch)/;

/** Counts the steps of a process, and lets its fate strike. */
function createLife(clock: HandClock, fate: Fate) {
  const steps: string[] = [];
  let isDead = false;
  let failsUntil: number | undefined;
  const isStruck = () => isDead || failsUntil !== undefined;
  /** True if the fate strikes at this step. */
  const take = (name: string): boolean => {
    steps.push(name);
    return !isStruck() && fate.kind !== 'lives' && (fate.at === steps.length || fate.at === name);
  };
  /** A step at the border to the database. */
  const step: Client['step'] = (name, isRead) => {
    if (isDead) return 'dies';
    if (fate.kind !== 'database_fails') {
      isDead = !isRead && take(name);
      return isDead ? 'dies' : 'passes';
    }
    const isNow = take(name);
    if (isNow) failsUntil = clock.now() + fate.forMs;
    return isNow || clock.now() < (failsUntil ?? 0) ? 'fails' : 'passes';
  };
  /** A step at the border to anything else. */
  const act = async (name: string): Promise<void> => {
    if (fate.kind !== 'database_fails') isDead ||= take(name);
    if (isDead) await never();
  };
  return {
    steps,
    step,
    /** A port whose calls are steps of the process, except for those that only read. */
    watch: <Port extends object>(name: string, port: Port): Port =>
      new Proxy(port, {
        get: (target, property) => {
          const method: unknown = Reflect.get(target, property);
          if (typeof method !== 'function' || property === 'budget') return method;
          return async (...args: unknown[]) => {
            if (isDead) return never();
            if (READS.test(String(property))) return Reflect.apply(method, target, args);
            await act(`before ${name}.${String(property)}`);
            const result: unknown = await Reflect.apply(method, target, args);
            await act(`after ${name}.${String(property)}`);
            return result;
          };
        },
      }),
    isDead: () => isDead,
    isStruck,
  };
}

/** What a step comes to for the process that takes it. */
type Passage = 'passes' | 'dies' | 'fails';

/** One process, as the database knows it. */
export interface Client {
  /** `isRead` says that the step changes nothing outside of the process. */
  step(name: string, isRead: boolean): Passage;
}

/**
 * The process that a piece of work belongs to. One for all databases: Node.js 20 asks every storage that was ever used at each new
 * promise, so that one for each database makes every test after it slower.
 */
const clients = new AsyncLocalStorage<Client>();

/** A database that outlives the processes that use it, and at whose border they die or find it failing. */
function createMortalDatabase() {
  /** The states that each transaction has given to operations and approvals. */
  const given = new WeakMap<Watched, string[]>();
  const watch: Watch = async (statement, run, connection) => {
    const client = clients.getStore();
    if (!client || statement.sql === 'rollback') return run();
    const states = given.get(connection) ?? [];
    given.set(connection, states);
    const { name, isRead, isLook } = describe(statement, states);
    const pass = async (moment: 'before' | 'after', changesNothing: boolean) => {
      const passage = client.step(`${moment} ${name}`, changesNothing);
      if (passage === 'dies') await connection.abandon().then(never);
      const cause = new Error(`the database fails ${moment} ${name}`);
      if (passage === 'fails')
        throw statement.sql === 'commit' ? new CommitUnknown(cause) : new DatabaseUnreachable(cause);
    };
    await pass('before', isRead || isLook);
    const result = await run();
    if (!isRead && (!isLook || hasRows(result))) await pass('after', false);
    return result;
  };
  return {
    openEngine: openWatched(watch),
    /** The same object, whose methods use the database as that process. What belongs to none takes no steps. */
    belongingTo: <Owned extends object>(client: Client, owned: Owned): Owned =>
      new Proxy(owned, {
        get: (target, property) => {
          const method: unknown = Reflect.get(target, property);
          if (typeof method !== 'function') return method;
          return (...args: unknown[]) => clients.run(client, () => Reflect.apply(method, target, args));
        },
      }),
  };
}

const WRITE = /^(insert|update|delete)(?: into| from)? "?(\w+)/;

const STATES: readonly unknown[] = [
  ...['prepared', 'sent', 'settled', 'refused', 'unconfirmed'],
  ...['open', 'approved', 'denied', 'withdrawn', 'expired', 'canceled'],
];

/** Names a statement, and a commit by the states that its transaction has given. */
function describe({ sql, parameters }: Statement, states: string[]) {
  if (sql === 'commit')
    return {
      name: states.length > 0 ? `commit of ${states.join(' and ')}` : sql,
      isRead: false,
      isLook: false,
    };
  const [, verb, table] = WRITE.exec(sql) ?? [];
  if (verb === undefined) return { name: sql, isRead: true, isLook: false };
  const [change = ''] = sql.split(' where ');
  const state = change.includes('"state"') && parameters.find((one) => STATES.includes(one));
  if (state) states.push(String(state));
  // The background asks for what is due all the time: only an answer is a write.
  return { name: `${verb} ${table}`, isRead: false, isLook: sql.includes('order by "due_at"') };
}

function hasRows(result: unknown): boolean {
  return (result as { readonly rows: readonly unknown[] }).rows.length > 0;
}
