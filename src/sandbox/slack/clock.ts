/** What the local Slack knows of time; the system's clock fits. */
export interface SlackClock {
  /** Epoch milliseconds. */
  now(): number;
}

export const wallClock: SlackClock = { now: () => Date.now() };

/** A clock that moves by hand only, so that expiry can be tested at once. */
export interface HandClock extends SlackClock {
  advance(ms: number): void;
}

/** Makes a clock that stands still until it is moved. */
export function makeHandClock(startMs = Date.now()): HandClock {
  let now = startMs;
  return {
    now: () => now,
    advance: (ms) => {
      now += ms;
    },
  };
}
