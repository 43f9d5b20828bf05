import type { ConfirmationId } from '../../domain/ids.ts';
import type { System } from '../../system.ts';

/** Measures the time that passes while this process is looking for an unconfirmed operation. */
export interface DoubtClock {
  /** Milliseconds of the monotonic clock since the last look at it; 0 at this process's first one. */
  sinceLastLook(id: ConfirmationId): number;
}

/** A wall clock that was set, or a machine that was off, lets no doubt grow older (docs/design.md 4.9). */
export function createDoubtClock({ elapsed }: Pick<System, 'elapsed'>): DoubtClock {
  const looks = new Map<ConfirmationId, number>();
  return {
    sinceLastLook: (id) => {
      const now = elapsed();
      const since = now - (looks.get(id) ?? now);
      looks.set(id, now);
      return since;
    },
  };
}
