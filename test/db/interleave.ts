import { Client } from 'pg';
import { onTestFinished } from 'vitest';
import type { Store } from '../../src/context.ts';
import type { openEngine } from '../../src/db/open-store.ts';
import { realSystem } from '../../src/system.ts';
import { asInTests } from '../support/postgres.ts';
import { watchDatabase } from '../support/statements.ts';
import { makePostgres, open } from './support.ts';

/** Two acts of two processes on one database. */
interface Pair<Setting, First, Second> {
  /** Before each try. */
  prepare(stores: readonly [Store, Store], round: number): Promise<Setting>;
  readonly first: (store: Store, setting: Setting) => Promise<First>;
  readonly second: (store: Store, setting: Setting) => Promise<Second>;
  /** What must hold afterwards. */
  check(ended: Ended<Setting, First, Second>): Promise<void>;
}

interface Ended<Setting, First, Second> {
  readonly setting: Setting;
  readonly first: First;
  readonly second: Second;
  readonly store: Store;
  /** Which of them ended while the other one stood between two of its statements. */
  readonly inside: 'first' | 'second' | undefined;
  /** For the message when it fails: where the other one stood. */
  readonly at: string;
}

/** Lets one process stop before a statement of its choice. */
class Steps {
  #left = Number.POSITIVE_INFINITY;
  #hold: { readonly until: Promise<void>; readonly resume: () => void } | undefined;
  #onStop: ((sql: string) => void) | undefined;

  /** Resolves with the statement before which it stands; never if there are not so many. */
  stopBefore(statement: number): Promise<string> {
    this.#left = statement;
    let resume = (): void => undefined;
    const until = new Promise<void>((resolve) => {
      resume = resolve;
    });
    this.#hold = { until, resume };
    return new Promise((resolve) => {
      this.#onStop = resolve;
    });
  }

  resume(): void {
    this.#left = Number.POSITIVE_INFINITY;
    this.#hold?.resume();
  }

  async before(sql: string): Promise<void> {
    this.#left -= 1;
    if (this.#left !== -1) return;
    this.#onStop?.(sql);
    await this.#hold?.until;
  }

  readonly openEngine: typeof openEngine = async (url, options) => {
    const engine = await asInTests(url, options);
    const dialect = watchDatabase(engine.dialect, async ({ sql }, run) => {
      await this.before(sql);
      return run();
    });
    return { ...engine, dialect };
  };
}

/** A transaction of one statement has three steps, and each of the two stands before each of its own, and after the last. */
const LEAST_ROUNDS = 2 * 4;

/** Tries the pair with either process standing before each of its statements, while the other one does all it can. */
export async function interleave<Setting, First, Second>(pair: Pair<Setting, First, Second>): Promise<void> {
  const url = await makePostgres();
  const [firstSteps, secondSteps] = [new Steps(), new Steps()];
  const watcher = new Client(url);
  await watcher.connect();
  onTestFinished(() => watcher.end());
  // Two that wait for each other are found out sooner than after the server's second.
  await watcher.query(`alter database "${watcher.database}" set deadlock_timeout = '20ms'`);
  const openWith = ({ openEngine }: Steps) => open(url, { system: realSystem, openEngine });
  const stores = [await openWith(firstSteps), await openWith(secondSteps)] as const;
  let round = 0;
  for (const stopped of ['first', 'second'] as const) {
    const steps = stopped === 'first' ? firstSteps : secondSteps;
    for (let statement = 0; ; statement++) {
      round += 1;
      const setting = await pair.prepare(stores, round);
      const stop = steps.stopBefore(statement).then((sql) => ({ sql }));
      const start = {
        first: () => pair.first(stores[0], setting),
        second: () => pair.second(stores[1], setting),
      };
      const [held, other] =
        stopped === 'first' ? (['first', 'second'] as const) : (['second', 'first'] as const);
      const running = start[held]();
      const stood = await Promise.race([stop, running.then(() => undefined)]);
      const rival = start[other]();
      const isInside = stood !== undefined && (await endsBeforeItWaits(rival, watcher));
      steps.resume();
      const outcome = { [held]: await running, [other]: await rival } as { first: First; second: Second };
      const at = `the ${held} stood before statement ${statement} (${stood?.sql ?? 'none'})`;
      await pair.check({ setting, ...outcome, store: stores[0], inside: isInside ? other : undefined, at });
      if (!stood) break;
    }
  }
  if (round < LEAST_ROUNDS) throw new Error('the statements of the two were not seen');
}

/** False when it waits for a lock, which only the one that stands can have. */
async function endsBeforeItWaits(work: Promise<unknown>, watcher: Client): Promise<boolean> {
  let hasEnded = false;
  const ended = work.then(
    () => {
      hasEnded = true;
    },
    () => {
      hasEnded = true;
    },
  );
  for (;;) {
    await Promise.race([ended, realSystem.sleep(3)]);
    if (hasEnded) return true;
    const { rows } = await watcher.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rows.length > 0) return false;
  }
}
