import { realSystem, type System } from '../../src/system.ts';

/** The real system with clocks that can be moved ahead. Running sleeps are not affected. */
export function movableSystem(): System & { move(byMs: number): void } {
  let aheadMs = 0;
  return {
    ...realSystem,
    now: () => realSystem.now() + aheadMs,
    elapsed: () => realSystem.elapsed() + aheadMs,
    move: (byMs) => {
      aheadMs += byMs;
    },
  };
}
