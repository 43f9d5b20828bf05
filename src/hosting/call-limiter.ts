/** One call that wants to leave. */
export interface Job<Answer> {
  readonly urgency: 'person' | 'background';
  readonly onWait?: (() => void) | undefined;
  /** Awaited right before `send`; when it rejects, nothing leaves. */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  readonly send: (waitedMs: number) => Promise<Answer>;
}

/** What calls pass before they leave. */
export interface CallLimiter {
  /**
   * Waits for a slot, then sends. The answer is handed out at once; the slot lives on.
   * @throws Refusal `waited_too_long`, `shutting_down`: nothing has left
   * @throws HostingError `not_sent` when the preparations took too long, and whatever `send` throws
   */
  run<Answer>(job: Job<Answer>): Promise<Answer>;
  /** Lets nothing leave for so many milliseconds: another program is using up the account's minute. */
  pause(ms: number): void;
  /** How much of the minute's budget is taken, and how many calls wait. */
  budget(): { readonly taken: number; readonly limit: number; readonly waiting: number };
  /** Tells whether nothing is held or waited for, and no call has come for so long. */
  isIdle(idleMs: number): boolean;
}
