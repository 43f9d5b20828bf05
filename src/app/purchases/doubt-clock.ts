import type { ConfirmationId } from '../../domain/ids.ts';
import type { Operation } from '../../domain/operation.ts';
import type { System } from '../../system.ts';

/** Measures the time that passes while processes are looking for an unconfirmed operation. */
export interface DoubtClock {
  /**
   * Milliseconds of the monotonic clock since this process last looked at it, less those that other processes have counted
   * since; 0 at this process's first look.
   */
  sinceLastLook(operation: Pick<Operation, 'id' | 'lookedMs'>): number;
}

/**
 * Neither a wall clock that is set nor a machine that is off adds to the time that is compared with `DOUBT_MINUTES`, and time
 * that several processes measure at once counts once (docs/design.md 4.9).
 */
export function createDoubtClock({ elapsed }: Pick<System, 'elapsed'>): DoubtClock {
  const looks = new Map<ConfirmationId, { readonly at: number; readonly lookedMs: number }>();
  return {
    sinceLastLook: ({ id, lookedMs }) => {
      const at = elapsed();
      const last = looks.get(id);
      const passedMs = last ? Math.max(0, last.lookedMs + at - last.at - lookedMs) : 0;
      looks.set(id, { at, lookedMs: lookedMs + passedMs });
      return passedMs;
    },
  };
}
