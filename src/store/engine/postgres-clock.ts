import { sql } from 'kysely';
import { createIds } from '../../system.ts';
import type { Engine, EngineOptions } from './engine.ts';

/** This machine's quartz is off by a few milliseconds at most after this long. */
const GOOD_FOR_MS = 30_000;

/**
 * The database's clock as this process knows it: read at the start and now and then, and counted on by the monotonic clock. The
 * wall clocks of the machines may differ; statements that decide who holds what use `postgresMoment`.
 */
export async function createDatabaseClock(
  read: () => Promise<number>,
  system: EngineOptions['system'],
): Promise<Engine['clock']> {
  let known = await readTwice(read, system);
  let isReading = false;
  const refresh = async () => {
    if (isReading) return;
    isReading = true;
    // Without a database the old reading has to do.
    known = await readTwice(read, system).catch(() => known);
    isReading = false;
  };
  const now = () => {
    const passedMs = system.elapsed() - known.at;
    if (passedMs > GOOD_FOR_MS) void refresh();
    return Math.round(known.time + passedMs);
  };
  return { now, newId: createIds(now, system.random), sleep: system.sleep };
}

/** Epoch milliseconds at the database, and when that was on the monotonic clock: in the middle of the question and the answer. */
async function readTwice(read: () => Promise<number>, { elapsed }: EngineOptions['system']) {
  const sentAt = elapsed();
  const time = await read();
  return { time, at: (sentAt + elapsed()) / 2 };
}

/** When the database received the statement, in epoch milliseconds. */
export const DATABASE_NOW = sql<number>`cast(floor(extract(epoch from statement_timestamp()) * 1000) as bigint)`;

/** A moment so far from the time at which the database runs the statement. */
export const postgresMoment: Engine['moment'] = (at, now) =>
  sql<number>`(${DATABASE_NOW} + cast(${Math.round(at - now)} as bigint))`;
