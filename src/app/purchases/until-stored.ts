import type { ConfirmationId } from '../../domain/ids.ts';
import type { AppContext } from '../ports.ts';

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;

/**
 * Tries until the database takes an answer of the API, or the process ends: the answer may hold a password that exists
 * nowhere else.
 * @param onFailure called after each try that failed
 */
export async function untilStored<Result>(
  operationId: ConfirmationId,
  store: () => Promise<Result>,
  { log, system }: AppContext,
  onFailure: () => Promise<void> = async () => undefined,
): Promise<Result> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    try {
      return await store();
    } catch (error) {
      const cause = error instanceof Error ? error.name : 'unknown';
      log.error('a paid answer could not be stored yet; trying again', { operationId, cause });
      await onFailure();
      await system.sleep(waitMs);
    }
  }
}
