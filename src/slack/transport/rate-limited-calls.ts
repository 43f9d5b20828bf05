import type { System } from '../../system.ts';

interface Answer {
  readonly ok: boolean;
  readonly retryAfterMs?: number | undefined;
}

/** The longest that a message to a channel waits for its turn; the background posts later what matters longer. */
const TURN_MOST_MS = 30_000;
const TRIES = 3;

/**
 * Repeats a call that Slack's rate limit refused, when Slack takes such calls again; three times at most, or only once if it's
 * not patient.
 */
export async function inTurn<Answered extends Answer>(
  system: Pick<System, 'sleep'>,
  send: () => Promise<Answered>,
  isPatient = true,
): Promise<Answered> {
  for (let tries = 1; ; tries++) {
    const answer = await send();
    if (answer.ok || answer.retryAfterMs === undefined) return answer;
    if (!isPatient || tries === TRIES || answer.retryAfterMs > TURN_MOST_MS) return answer;
    await system.sleep(answer.retryAfterMs);
  }
}
