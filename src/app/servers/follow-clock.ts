import { MINUTE_MS } from '../../domain/time.ts';
import type { System } from '../../system.ts';
import type { TakenAct } from './ports.ts';

/** Between two processes there is only the wall clock, which is trusted for gaps up to this long. */
const LONGEST_GAP_MS = MINUTE_MS;

/** Measures for how long acts were followed: on the monotonic clock, so that a wall clock that was set changes nothing. */
export interface FollowClock {
  /** `isMeasured` is false where no process was running, or the clock was set while one took over from another. */
  measure(act: TakenAct): { readonly passedMs: number; readonly isMeasured: boolean };
  forget(id: string): void;
}

export function createFollowClock({ elapsed, now }: Pick<System, 'elapsed' | 'now'>): FollowClock {
  const looks = new Map<string, number>();
  return {
    measure: ({ id, passedMs, lookedAt }) => {
      const before = looks.get(id);
      const at = elapsed();
      looks.set(id, at);
      if (before !== undefined) return { passedMs: passedMs + at - before, isMeasured: true };
      const gapMs = now() - lookedAt;
      const isMeasured = gapMs >= 0 && gapMs <= LONGEST_GAP_MS;
      return { passedMs: passedMs + (isMeasured ? gapMs : 0), isMeasured };
    },
    forget: (id) => {
      looks.delete(id);
    },
  };
}
