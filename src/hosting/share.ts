import type { WorkspaceId } from '../core/ids.ts';
import type { System } from '../system.ts';
import type { CallOptions, Freshness, OnWait, Urgency } from './hosting-api.ts';
import { PRIORITY } from './limiter.ts';

export interface Read {
  readonly urgency: Urgency;
  readonly workspaceId: WorkspaceId | undefined;
  readonly onWait: OnWait;
  /** To be called right before each try is sent: the answer may miss changes after this moment. */
  readonly beforeSend: () => Promise<void>;
}

interface ReadOptions extends CallOptions {
  /** The workspace that the request counts for if this read sends one. */
  readonly workspaceId?: WorkspaceId | undefined;
}

/** Reads, or reuses an answer that is fresh enough. @throws what `send` throws, for all callers that share it */
type Reader<Answer> = (options?: ReadOptions) => Promise<Answer>;

/** How old an answer may be for a menu that searches while a user types. */
const RECENT_MS = 30_000;

interface Flight<Answer> {
  readonly answer: Promise<Answer>;
  readonly urgency: Urgency;
  /** Called when the read has to wait; undefined once that happened. */
  listeners: OnWait[] | undefined;
  /** The epoch in which its request was sent; undefined while it waits for the limiter. */
  leftIn: number | undefined;
}

export type Share = ReturnType<typeof createShare>;

/** Creates the shared reads of one key, whose answers are forgotten when something changes (docs/design.md 6.4). */
export function createShare(system: System) {
  // Counts starts and ends of changes. An answer is valid while the count is the same as when its request was sent.
  let epoch = 0;
  return {
    /** Makes a reader whose callers share one request in flight, and its answer for `cacheMs`. */
    reader: <Answer>(cacheMs: number, send: (read: Read) => Promise<Answer>): Reader<Answer> => {
      /** The newest request; older ones continue for the callers that wait for them. */
      let newest: Flight<Answer> | undefined;
      let cached: { readonly answer: Answer; readonly at: number; readonly epoch: number } | undefined;

      const isFresh = (freshness: Freshness): boolean => {
        if (!cached || cached.epoch !== epoch || freshness === 'fresh') return false;
        const goodForMs = freshness === 'recent' ? Math.max(RECENT_MS, cacheMs) : cacheMs;
        return system.elapsed() < cached.at + goodForMs;
      };

      const fits = (flight: Flight<Answer>, freshness: Freshness, urgency: Urgency) => {
        // A request that was sent can be shared if nothing has changed since, but never as `fresh`.
        if (flight.leftIn !== undefined) return freshness !== 'fresh' && flight.leftIn === epoch;
        // A request that waits can be shared by all whom it makes wait no longer than one of their own.
        return PRIORITY[flight.urgency] <= PRIORITY[urgency];
      };

      const start = (urgency: Urgency, workspaceId: WorkspaceId | undefined): Flight<Answer> => {
        const read: Read = {
          urgency,
          workspaceId,
          onWait: () => {
            const listeners = flight.listeners ?? [];
            flight.listeners = undefined;
            for (const listener of listeners) listener();
          },
          beforeSend: async () => {
            flight.leftIn = epoch;
          },
        };
        const flight: Flight<Answer> = {
          urgency,
          listeners: [],
          leftIn: undefined,
          // Starts in a later microtask, when `flight` exists.
          answer: Promise.resolve().then(() => send(read)),
        };
        newest = flight;
        const land = () => {
          if (newest === flight) newest = undefined;
        };
        // A failure reaches every caller that waits; the next read sends a new request.
        void flight.answer.then((answer) => {
          land();
          if (flight.leftIn === epoch) cached = { answer, epoch, at: system.elapsed() };
        }, land);
        return flight;
      };

      return ({ freshness = 'shared', urgency = 'user', workspaceId, onWait } = {}) => {
        if (cached && isFresh(freshness)) return Promise.resolve(cached.answer);
        const flight = newest && fits(newest, freshness, urgency) ? newest : start(urgency, workspaceId);
        if (onWait && flight.listeners) flight.listeners.push(onWait);
        else onWait?.();
        return flight.answer;
      };
    },
    /** Runs a change. However that ends, no answer to a read that was sent before its end is reused. */
    change: async <Answer>(run: () => Promise<Answer>): Promise<Answer> => {
      epoch++;
      try {
        return await run();
      } finally {
        epoch++;
      }
    },
  };
}
