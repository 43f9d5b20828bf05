import { realSystem, type System } from '../../src/system.ts';

/** The real system, whose clocks can be moved ahead. What sleeps goes on sleeping. */
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
