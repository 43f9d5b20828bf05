import { describeDefect } from '../../core/errors.ts';
import type { OnWait, Wait } from '../../hosting/hosting-api.ts';
import type { Log } from '../../log.ts';
import type { SlackRequest } from '../request.ts';
import { textMessage } from './blocks.ts';

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

/** Tells the user that the hosting API's rate limit delays this; for calls that wait for more than 5 s. */
export function sendWaiting(request: SlackRequest): OnWait {
  return (wait) => {
    // The response_url may be stored in a database that can't be reached. An unhandled rejection would end the process.
    request.reply.send(textMessage(waitingWords(wait))).catch(() => undefined);
  };
}

/** What is known about the wait: an estimate is always called one. */
export function waitingWords({ position, estimateMs, givesUpInMs }: Wait = {}): string {
  const first = 'We’ve hit the hosting API’s rate limit.';
  const place =
    position === undefined
      ? 'queued'
      : position === 1
        ? 'next in the queue'
        : `number ${position} in the queue`;
  const isTooLong = estimateMs !== undefined && givesUpInMs !== undefined && estimateMs > givesUpInMs;
  if (isTooLong)
    return `${first} Your request is ${place}, and its turn will probably come too late: requests that wait longer than 90 s aren’t sent.`;
  const runs = `${first} Your request is ${place} and will run automatically`;
  return estimateMs === undefined ? `${runs}.` : `${runs}. Estimated wait: about ${secondsOf(estimateMs)} s.`;
}

/** In steps of five seconds: more would look exact. */
function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 5000)) * 5;
}
