import type { AppContext, Store } from '../../../../src/context.ts';
import { createEntry, type Entry } from '../../../../src/core/entry.ts';
import { createLocks } from '../../../../src/core/locks.ts';
import type { HostingApi } from '../../../../src/hosting/hosting-api.ts';
import { silentLog } from '../../../../src/log.ts';
import { createOperationHandler } from '../../../../src/purchases/due.ts';
import type { OperationNotifier } from '../../../../src/purchases/ports.ts';
import type { DeleteNotifier } from '../../../../src/servers/deletion.ts';
import { vault } from '../../../store/fixtures.ts';
import { never } from '../../../support/watched-database.ts';
import { makePorts } from '../../support/make-ports.ts';
import type { HandClock } from './hand-clock.ts';
import type { Client, MortalDatabase } from './mortal-database.ts';

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

/** What processes share: what outlives them. */
export interface Surroundings {
  readonly clock: HandClock;
  readonly database: MortalDatabase;
  readonly store: Store;
  readonly hosting: HostingApi;
  readonly notifier: OperationNotifier;
  readonly deleteNotifier: DeleteNotifier;
}

/** One process of the app, over a store that may outlive it. */
export interface MortalProcess {
  readonly ports: AppContext;
  readonly entry: Entry;
  /** What was done until now: its last entry is where a killed process died. */
  readonly steps: readonly string[];
  isDead(): boolean;
  /** Whether its fate has struck. */
  isStruck(): boolean;
  /** Lets the work run until it ends or the process dies. */
  run(work: Promise<unknown>): Promise<void>;
  /** Moves on what is due, as the background does, until that is so. */
  runBackground(until: () => Promise<boolean>, tickMs?: number): Promise<void>;
}

const MEMBER = {
  isAdmin: false,
  isGuest: false,
  isBot: false,
  isDeactivated: false,
  isStranger: false,
  teamIds: ['T1'],
};

export function startProcess(
  around: Surroundings,
  fate: Fate = { kind: 'lives' },
  owners: readonly string[] = ['U1', 'U2'],
): MortalProcess {
  const { clock, store, database } = around;
  const life = createLife(clock, fate);
  const system = clock.system();
  const ports = makePorts(
    { ...store, spill: life.watch('spill', store.spill) },
    {
      system,
      locks: createLocks({ leases: store.lockLeases, system, log: silentLog }),
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
  ports.jobs.handle({ operation: createOperationHandler(ports, entry) });
  const background = database.belongingTo(life, {
    moveOn: () => ports.jobs.runDue(),
  });
  return {
    ports,
    entry,
    steps: life.steps,
    isDead: life.isDead,
    isStruck: life.isStruck,
    run: (work) => clock.run(work, life.isDead),
    runBackground: async (until, tickMs = TICK_MS) => {
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
