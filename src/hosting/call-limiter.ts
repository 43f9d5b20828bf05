import type { CallOptions, OnWait, Urgency } from '../app/hosting-api.ts';

/** One call to be sent. */
export interface Job<Answer> {
  readonly urgency: Urgency;
  /** Whose call it is: each caller gets a fair share. Without a name it shares one line with the others that have none. */
  readonly caller?: string | undefined;
  readonly onWait?: OnWait | undefined;
  /** Awaited right before `send`; if it rejects, nothing is sent. */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /** Gets the slot that it is sent in, whose age decides whether it may still be sent. */
  readonly send: (waitedMs: number, slot: CallSlot) => Promise<Answer>;
  /** Whether a failed `send` has sent anything; without it, it counts as sent. */
  readonly isSent?: () => boolean;
}

/** The slot that a call is sent in. It ends when it was taken longer ago than any call can last. */
export interface CallSlot {
  /**
   * Takes it again if it was taken more than a moment ago: for a call that has waited for something else since.
   * @throws HostingError `not_sent` when it was lost meanwhile, and whatever the store throws: nothing was sent
   */
  takeAgain(): Promise<void>;
  /** Whether it was taken too long ago for a call whose first byte leaves now, by either clock. */
  readonly isTooOld: boolean;
  /** @throws HostingError `not_sent` when it is too old */
  check(): void;
}

/** How a call is made, and by whom. */
export type CallBy = CallOptions & Pick<Job<unknown>, 'caller'>;

/** Holds calls back until they may be sent. */
export interface CallLimiter {
  /**
   * Waits for a slot, then sends. The answer is returned at once; the slot stays taken for a minute after it.
   * @throws Refusal `too_many_waiting`, `waited_too_long`, `shutting_down`: nothing was sent
   * @throws HostingError `not_sent` when the preparations took too long, and whatever `send` throws
   */
  run<Answer>(job: Job<Answer>): Promise<Answer>;
  /** Holds back every call for this long, in milliseconds, since another program is using up the account's minute. */
  pause(ms: number): void;
  /** How much of the minute's budget is taken, and how many calls wait. */
  budget(): { readonly taken: number; readonly limit: number; readonly waiting: number };
  /** Whether no slot is held, no call waits, and no call has come for that long. */
  isIdle(idleMs: number): boolean;
}
