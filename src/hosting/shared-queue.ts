import type { SlotLimits } from '../app/hosting-api.ts';

/** A call that was admitted holds one of the queue's places until it ends. */
export interface Admission {
  /** Lets the next call in. */
  end(): void;
}

/** Of a call that goes on without the queue. */
export const UNQUEUED: Admission = { end() {} };

/**
 * The queue in which the calls of all processes wait for an account's slots. It guards nothing: every call also takes its
 * slot in the store, so the limit holds whatever happens here.
 */
export interface SharedQueue {
  /** How many calls of this process wait. */
  readonly waiting: number;
  /** How many calls of this process have been admitted so far. */
  readonly admitted: number;
  /**
   * Waits until the call is admitted; of this process's calls, those with a lower priority are first. `UNQUEUED` at once if
   * the queue can't be used, and when the signal fires.
   */
  wait(priority: number, gaveUp: AbortSignal): Promise<Admission>;
  /** Lets the first `count` calls go on without the queue. */
  letThrough(count: number): void;
  close(): void;
}

export interface SharedQueues {
  /** The queue of the account, or of what else is limited under this name. */
  of(name: string, limits: SlotLimits): SharedQueue;
  close(): void;
}
