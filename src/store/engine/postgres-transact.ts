import type { Engine, EngineOptions } from './engine.ts';
import { isConflict } from './postgres-driver.ts';

/** Of many that meet on one row, one gets through each time. */
const MOST_TRIES = 50;
const LONGEST_PAUSE_MS = 50;

/**
 * Runs transactions as if they ran one after the other (serializable), and repeats those that the database rolls back for
 * that. The retries of this process take turns, so that they are not in each other's way.
 */
export function createTransact({ sleep, random }: EngineOptions['system']): Engine['transact'] {
  let last: Promise<unknown> = Promise.resolve();
  const retry = async <Result>(attempt: () => Promise<Result>): Promise<Result> => {
    for (let tries = 2; ; tries++) {
      await sleep(random() * Math.min(2 ** tries, LONGEST_PAUSE_MS));
      try {
        return await attempt();
      } catch (error) {
        if (!isConflict(error) || tries >= MOST_TRIES) throw error;
      }
    }
  };
  return async (db, work) => {
    const attempt = () => db.transaction().setIsolationLevel('serializable').execute(work);
    return attempt().catch((error: unknown) => {
      if (!isConflict(error)) throw error;
      const retried = last.then(() => retry(attempt));
      last = retried.catch(() => undefined);
      return retried;
    });
  };
}
