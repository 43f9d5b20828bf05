import type { Store } from '../../src/context.ts';
import { CommitUnknown } from '../../src/db/database.ts';
import type { Jobs } from '../../src/db/jobs.ts';
import { openStore } from '../../src/db/open-store.ts';
import { realSystem, type System } from '../../src/system.ts';
import { vault } from '../db/fixtures.ts';
import { type Place, shareClock } from '../db/places.ts';
import { never, openWatched, type Watch } from './statements.ts';
import { isLong } from './tries.ts';

const WRITE = /^(insert|update|delete|commit)/;

/** The cases that can happen on an engine: the commit of a database in the same process is never unknown. */
export function casesOf<const Case extends readonly [Fate['kind'], ...string[]]>(
  { name }: { readonly name: string },
  cases: readonly Case[],
) {
  return cases.filter(([kind]) => kind === 'dies' || name !== 'SQLite');
}

/** Every third step: before one statement, after the next. Every one in the long form, and of the commits without an answer. */
export function strideOf(kind: Fate['kind']): number {
  return kind === 'dies' && !isLong ? 3 : 1;
}

/** What happens to a process: it dies at one of the steps before and after each write and commit, or loses the answer to a commit. */
export interface Fate {
  readonly kind: 'dies' | 'commit unknown';
  readonly at: number;
}

/** Processes that share a database, whose schema is there, and a clock; `start` makes one of a store. */
export function shareDatabase<Process extends { readonly jobs: Jobs }>(
  place: Place,
  start: (store: Store, system: System) => Process,
) {
  const { clock, system, counted, settle } = shareClock(place);
  /** A new connection takes a busy machine longer than a statement. One that a dead process waits for never comes. */
  const countWait = (connected: Promise<unknown>) => {
    const isOver = Promise.race([connected, realSystem.sleep(500)]);
    counted(() => isOver).catch(() => undefined);
  };
  /** Several may have it open: none is the only one, which would free the leases of the others. */
  const openBeside = (watch: Watch) => {
    const openEngine = openWatched(watch, place.openEngine, countWait);
    return openStore({ databaseUrl: place.url, vault, system, lock: false, openEngine });
  };
  return {
    system,
    /** Time passes until the work has ended, and no longer than this: the work of a dead process never ends. */
    pass: async (ms: number, work?: Promise<unknown>) => {
      let isOver = false;
      const end = () => {
        isOver = true;
      };
      work?.then(end, end);
      // A busy machine goes on with the work only after a while.
      const settleAll = async () => {
        for (let times = work ? 4 : 1; times > 0 && !isOver; times--) await settle();
      };
      // Processes of one thread can't wait for each other's transactions on SQLite.
      await settleAll();
      for (let passed = 0; passed < ms && !isOver; passed += ms / 12) {
        await clock.pass(ms / 12);
        await settleAll();
      }
    },
    /** A process that dies, or loses the answer to its commit, at that step. It does nothing by itself. */
    startMortal: async ({ kind, at }: Fate) => {
      let steps = 0;
      let isDead = false;
      let isWatched = false;
      const watch: Watch = async ({ sql }, run, connection) => {
        const die = async () => {
          isDead = true;
          await connection.abandon().catch(() => undefined);
          return never();
        };
        if (isDead) return die();
        if (!isWatched || !WRITE.test(sql)) return counted(run);
        if (kind === 'commit unknown') {
          const result = await counted(run);
          if (sql === 'commit' && ++steps === at) throw new CommitUnknown(new Error('lost'));
          return result;
        }
        if (++steps === at) return die();
        const result = await counted(run);
        return ++steps === at ? die() : result;
      };
      const store = await openBeside(watch);
      const process = start(store, system);
      isWatched = true;
      return { ...process, store, steps: () => steps };
    },
    /** A process that does what is due until it is closed. */
    startImmortal: async () => {
      const store = await openBeside((_statement, run) => counted(run));
      const process = start(store, system);
      const stop = new AbortController();
      const ended = process.jobs.run(stop.signal);
      const close = async () => {
        stop.abort();
        await ended;
        await store.close();
      };
      return { ...process, store, close };
    },
  };
}
