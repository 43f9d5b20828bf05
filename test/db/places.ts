import { join } from 'node:path';
import type { Store } from '../../src/context.ts';
import { openEngine } from '../../src/db/open-store.ts';
import { realSystem, type System } from '../../src/system.ts';
import { handClock, turn } from '../slack/support/fakes.ts';
import { asInTests, createMigratedDatabase, givenTime, postgresUrl } from '../support/postgres.ts';
import { queryDatabase } from '../support/query-database.ts';
import { makeFolder, open, T0 } from './support.ts';

/** A database of a test, with another way to it than the store's. */
export interface Place {
  readonly url: string;
  /** Runs a statement behind the store's back. */
  sql(text: string): ReturnType<typeof queryDatabase>;
  /** The engine of this database, with the clock that it is given. */
  readonly openEngine: typeof openEngine;
  /** Opens a store that is closed after the test; `lock: true` as an app does that may change the schema. */
  open(options?: Partial<Parameters<typeof open>[1]>): Promise<Store>;
}

async function makeSqlite(): Promise<Place> {
  const url = `sqlite:${join(makeFolder(), 'vps.sqlite')}`;
  return { url, sql: (text) => queryDatabase(url, text), openEngine, open: (options) => open(url, options) };
}

async function makePostgres(): Promise<Place> {
  const url = await createMigratedDatabase();
  await (await open(url, { openEngine: asInTests })).close();
  // The test's clock instead of the database's.
  const timed: typeof openEngine = async (given, options) => ({
    ...(await givenTime(given, options)),
    mayMigrate: options.lock,
  });
  const openTimed: Place['open'] = (options) => open(url, { openEngine: timed, ...options });
  return { url, sql: (text) => queryDatabase(url, text), openEngine: timed, open: openTimed };
}

/** The engines, each with a database whose rows and tables a test can alter. */
export const places = [
  { name: 'SQLite', make: makeSqlite },
  ...(postgresUrl ? [{ name: 'PostgreSQL', make: makePostgres }] : []),
];

/** The clock of processes that share a database, moved by hand, and what waits for them. */
export function shareClock({ url }: Pick<Place, 'url'>) {
  const clock = handClock();
  const system: System = { ...clock.system, now: () => T0 + clock.system.elapsed() };
  let asked = 0;
  return {
    clock,
    system,
    /** Counts what the database is asked until it has answered. */
    counted: async <Result>(run: () => Promise<Result>): Promise<Result> => {
      asked += 1;
      return run().finally(() => {
        asked -= 1;
      });
    },
    /** Resolves when the database has answered everything, and all processes sleep again. */
    settle: async (): Promise<void> => {
      for (let quiet = 0; quiet < 3; quiet = asked === 0 ? quiet + 1 : 0) {
        // A server answers later than the next turn of the event loop.
        if (url.startsWith('postgres:')) await realSystem.sleep(2);
        for (let turns = 0; turns < 10; turns++) await turn();
      }
    },
  };
}
