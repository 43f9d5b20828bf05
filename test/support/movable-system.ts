import { realSystem, type System } from '../../src/system.ts';

/** The real system with clocks that can be moved ahead, and a wall clock that can be set. Running sleeps are not affected. */
export function movableSystem(): System & { move(byMs: number): void; stepWall(byMs: number): void } {
  let aheadMs = 0;
  let wallOffsetMs = 0;
  return {
    ...realSystem,
    now: () => realSystem.now() + aheadMs + wallOffsetMs,
    elapsed: () => realSystem.elapsed() + aheadMs,
    move: (byMs) => {
      aheadMs += byMs;
    },
    stepWall: (byMs) => {
      wallOffsetMs += byMs;
    },
  };
}
