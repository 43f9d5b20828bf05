import type { Steps } from '../domain/steps.ts';
import type { System } from '../system.ts';

/** Long enough that pauses cost little, and short enough that no other user notices. */
const MOST_MS = 5;

/**
 * Does the work, and lets everything else that is due go first, before all but the shortest work and after every few
 * milliseconds: twenty searches in a row are no longer than one (docs/design.md 7.7).
 */
export async function runInSteps<Result>(
  steps: Steps<Result>,
  { elapsed, sleep }: Pick<System, 'elapsed' | 'sleep'>,
): Promise<Result> {
  for (let pauseAt = Number.NEGATIVE_INFINITY; ; ) {
    const step = steps.next();
    if (step.done) return step.value;
    if (elapsed() < pauseAt) continue;
    await sleep(0);
    pauseAt = elapsed() + MOST_MS;
  }
}
