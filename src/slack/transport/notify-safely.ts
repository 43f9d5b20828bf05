import { describeDefect } from '../../domain/errors.ts';
import type { Log } from '../../log.ts';

/** Tries to notify a user. A failure is logged and the notification stays due: it must not undo what it is about. */
export async function notifySafely<Result>(
  id: string,
  log: Log,
  otherwise: Result,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    log.warn('a user could not be notified', { id, ...describeDefect(error) });
    return otherwise;
  }
}
