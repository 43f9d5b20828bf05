import { describeDefect } from '../../domain/errors.ts';
import { InFlight } from '../../domain/in-flight.ts';
import type { Log } from '../../log.ts';

/** Work that follows from an action and goes on after its request was answered. */
export interface FollowUps {
  /** Starts the work once the request has been answered; what it throws is logged. */
  start(action: string, answered: Promise<void> | undefined, work: () => Promise<void>): void;
  /** Resolves when all that was started has ended. */
  drain(): Promise<void>;
}

export function createFollowUps(log: Log): FollowUps {
  const inFlight = new InFlight();
  return {
    start: (action, answered, work) => {
      inFlight
        .add((answered ?? Promise.resolve()).then(work))
        .catch((error: unknown) => log.error('a follow-up failed', { action, ...describeDefect(error) }));
    },
    drain: () => inFlight.drain(),
  };
}
