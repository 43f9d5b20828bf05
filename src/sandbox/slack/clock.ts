/** What the local Slack knows of time; the system's clock fits. */
export interface SlackClock {
  /** Epoch milliseconds. */
  now(): number;
}

export const wallClock: SlackClock = { now: () => Date.now() };

/** A clock that only moves when told to, so that expiry can be tested without waiting. */
export interface HandClock extends SlackClock {
  advance(ms: number): void;
}

/** Makes such a clock. */
export function makeHandClock(startMs = Date.now()): HandClock {
  let now = startMs;
  return {
    now: () => now,
    advance: (ms) => {
      now += ms;
    },
  };
}
