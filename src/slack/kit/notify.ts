import { describeDefect } from '../../core/errors.ts';
import type { OnWait, Wait } from '../../hosting/hosting-api.ts';
import type { Log } from '../../log.ts';
import type { SlackRequest } from '../request.ts';
import { textMessage } from './blocks.ts';

/**
 * Tries to send or edit a message, and returns `otherwise` if that throws. Logs the failure: it must not undo what the message is
 * about. `id` is for the log.
 */
export async function notifySafely<Result>(
  id: string,
  log: Log,
  otherwise: Result,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    log.warn('a message could not be sent or edited in Slack', { id, ...describeDefect(error) });
    return otherwise;
  }
}

/** Makes the `onWait` of calls: sends the user one message that the hosting API's rate limit delays their request. */
export function sendWaiting(request: SlackRequest): OnWait {
  let isSent = false;
  return (wait) => {
    if (isSent) return;
    isSent = true;
    // A send throws if the database with the response_url can't be reached. An unhandled rejection would end the process.
    request.reply.send(textMessage(waitingWords(wait))).catch(() => undefined);
  };
}

/** Describes a wait for the rate limit. Calls an estimate an estimate. */
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
    return `${first} Your request is ${place}, but its turn will probably come too late: requests that wait longer than 90 s aren’t sent.`;
  const runs = `${first} Your request is ${place} and will run automatically`;
  return estimateMs === undefined ? `${runs}.` : `${runs}. Estimated wait: about ${secondsOf(estimateMs)} s.`;
}

/** Rounds up to steps of five seconds, since finer ones would look exact. */
function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 5000)) * 5;
}
