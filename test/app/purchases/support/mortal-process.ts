import { createEntry, type Entry } from '../../../../src/app/authorize/entry.ts';
import type { HostingApi } from '../../../../src/app/hosting-api.ts';
import { createLocks } from '../../../../src/app/locks.ts';
import type { AppContext, Store } from '../../../../src/app/ports.ts';
import { createDoubtClock } from '../../../../src/app/purchases/doubt-clock.ts';
import type { OperationNotifier } from '../../../../src/app/purchases/notifier-port.ts';
import { takeDueOperation } from '../../../../src/app/purchases/take-due-operation.ts';
import { silentLog } from '../../../../src/log.ts';
import { makePorts } from '../../support/make-ports.ts';
import type { HandClock } from './hand-clock.ts';

/**
 * What happens to a process at one of its steps: by number, from 1, or by name, the first time. Before and after each
 * call that counts is a step.
 */
export type Fate =
  | { readonly kind: 'lives' }
  /** Nothing of the process runs after this step, as with `kill -9`. Writes, requests and notifications count. */
  | { readonly kind: 'killed'; readonly at: Step }
  /**
   * The database throws at this step, and for so long after it. After a call, it was committed all the same. All its
   * calls count.
   */
  | { readonly kind: 'store_fails'; readonly at: Step; readonly forMs: number };

/** `3`, or `after ledger.markSent`. */
type Step = number | string;

/** What processes share: what outlives them. */
export interface Surroundings {
  readonly clock: HandClock;
  readonly store: Store;
  readonly hosting: HostingApi;
  readonly notifier: OperationNotifier;
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

const WATCHED_STORE = ['ledger', 'passwords', 'audit', 'approvals', 'seenRequests', 'spill'] as const;

export function startProcess(
  around: Surroundings,
  fate: Fate = { kind: 'lives' },
  owners: readonly string[] = ['U1', 'U2'],
): MortalProcess {
  const { clock, store } = around;
  const life = createLife(clock, fate);
  const stored = Object.fromEntries(WATCHED_STORE.map((name) => [name, life.watch(name, store[name])]));
  const system = clock.system();
  const leases = life.watch('lockLeases', store.lockLeases);
  const ports = makePorts(
    { ...store, ...stored },
    {
      system,
      locks: createLocks({ leases, system, log: silentLog }),
      ownersOf: () => owners,
      users: { find: async () => MEMBER, exists: async () => 'yes' },
      // Each key is another account.
      hostingOf: (key) => life.watch('hosting', { ...around.hosting, account: key.reveal() }),
      operationNotifier: life.watch('notifier', around.notifier),
      settings: { unconfirmedMs: 60_000, passwordHoldMs: 3_600_000, auditKeepDays: undefined },
    },
  );
  const entry = createEntry(ports);
  const doubtClock = createDoubtClock(system);
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
        // A store that fails is asked again at the next tick.
        const work = takeDueOperation(ports, entry, doubtClock).then((due) => due?.run());
        await clock.run(work, life.isDead).catch(() => undefined);
        if (!life.isDead()) await clock.pass(tickMs);
      }
    },
  };
}

/** Longer than the app's, to be quick: what is due is due a little later. */
const TICK_MS = 15_000;
const MOST_TICKS = 100;

/** Calls that change nothing outside of the process. */
const READS = /\.(find|list|sum|count|fetch)/;

/** Counts the steps of a process, and lets its fate strike. */
function createLife(clock: HandClock, fate: Fate) {
  const steps: string[] = [];
  let isDead = false;
  let failsUntil: number | undefined;
  const isStruck = () => isDead || failsUntil !== undefined;
  const never = new Promise<never>(() => undefined);
  const counts = (name: string) =>
    fate.kind === 'store_fails' ? !/ (hosting|notifier|spill)\./.test(name) : !READS.test(name);
  const step = async (name: string): Promise<void> => {
    if (isDead) return never;
    if (!counts(name)) return;
    steps.push(name);
    const isNow = !isStruck() && fate.kind !== 'lives' && (fate.at === steps.length || fate.at === name);
    if (isNow && fate.kind === 'killed') {
      isDead = true;
      return never;
    }
    if (isNow && fate.kind === 'store_fails') failsUntil = clock.now() + fate.forMs;
    const isFailing = failsUntil !== undefined && (isNow || clock.now() < failsUntil);
    if (isFailing) throw new Error(`the store fails ${name}`);
  };
  return {
    steps,
    watch: <Port extends object>(name: string, port: Port) => watch(name, port, step),
    isDead: () => isDead,
    isStruck,
  };
}

/** A port whose calls are steps of the process. */
function watch<Port extends object>(name: string, port: Port, step: (name: string) => Promise<void>): Port {
  return new Proxy(port, {
    get: (target, property) => {
      const method: unknown = Reflect.get(target, property);
      if (typeof method !== 'function' || property === 'budget') return method;
      return async (...args: unknown[]) => {
        await step(`before ${name}.${String(property)}`);
        const result: unknown = await Reflect.apply(method, target, args);
        await step(`after ${name}.${String(property)}`);
        return result;
      };
    },
  });
}
