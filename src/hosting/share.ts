import type { WorkspaceId } from '../core/ids.ts';
import type { System } from '../system.ts';
import type { Freshness, OnWait, Urgency, Wait } from './hosting-api.ts';
import { type CallBy, PRIORITY } from './limiter.ts';

export interface Read {
  readonly urgency: Urgency;
  readonly caller: string | undefined;
  readonly workspaceId: WorkspaceId | undefined;
  readonly onWait: OnWait;
  /** To be called right before each try is sent: the answer may miss changes after this moment. */
  readonly beforeSend: () => Promise<void>;
}

/** Reads, or reuses an answer that is fresh enough. @throws what `send` throws, for all callers that share it */
type Reader<Answer> = (options?: CallBy) => Promise<Answer>;

/** How old an answer may be for a menu that searches while a user types. */
const RECENT_MS = 30_000;

interface Flight<Answer> {
  readonly answer: Promise<Answer>;
  readonly urgency: Urgency;
  readonly caller: string | undefined;
  /** Called when the read has to wait; undefined once that happened. */
  listeners: OnWait[] | undefined;
  /** The wait that the listeners were called with. */
  wait: Wait | undefined;
  /** The epoch in which its request was sent; undefined while it waits for the limiter. */
  leftIn: number | undefined;
}

export type Share = ReturnType<typeof createShare>;

/** Creates the shared reads of one key, whose answers are forgotten when something changes (docs/design.md 6.4). */
export function createShare(system: System) {
  // Counts starts and ends of changes. An answer is valid while the count is the same as when its request was sent.
  let epoch = 0;
  return {
    /**
     * Makes a reader whose callers share one request in flight, and its answer for `cacheMs`. While `isBusy`, each caller has a
     * request of its own until it is sent, so that none waits in the limiter's line of another caller.
     */
    reader: <Answer>(
      cacheMs: number,
      send: (read: Read) => Promise<Answer>,
      isBusy = () => false,
    ): Reader<Answer> => {
      /** The newest request; older ones continue for the callers that wait for them. */
      let newest: Flight<Answer> | undefined;
      /** The newest request of each caller. */
      const own = new Map<string | undefined, Flight<Answer>>();
      let cached: { readonly answer: Answer; readonly at: number; readonly epoch: number } | undefined;

      const isFresh = (freshness: Freshness): boolean => {
        if (!cached || cached.epoch !== epoch || freshness === 'fresh') return false;
        const goodForMs = freshness === 'recent' ? Math.max(RECENT_MS, cacheMs) : cacheMs;
        return system.elapsed() < cached.at + goodForMs;
      };

      const fits = (flight: Flight<Answer>, freshness: Freshness, urgency: Urgency, caller?: string) => {
        // A request that was sent can be shared if nothing has changed since, but never as `fresh`.
        if (flight.leftIn !== undefined) return freshness !== 'fresh' && flight.leftIn === epoch;
        // A request that waits can be shared by all callers whom it makes wait no longer than one of their own.
        if (flight.caller !== caller && isBusy()) return false;
        return PRIORITY[flight.urgency] <= PRIORITY[urgency];
      };

      const start = (urgency: Urgency, caller?: string, workspaceId?: WorkspaceId): Flight<Answer> => {
        const read: Read = {
          urgency,
          caller,
          workspaceId,
          onWait: (wait) => {
            const listeners = flight.listeners ?? [];
            flight.listeners = undefined;
            flight.wait = wait;
            for (const listener of listeners) listener(wait);
          },
          beforeSend: async () => {
            flight.leftIn = epoch;
          },
        };
        const flight: Flight<Answer> = {
          urgency,
          caller,
          listeners: [],
          wait: undefined,
          leftIn: undefined,
          // Starts in a later microtask, when `flight` exists.
          answer: Promise.resolve().then(() => send(read)),
        };
        newest = flight;
        own.set(caller, flight);
        const land = () => {
          if (newest === flight) newest = undefined;
          if (own.get(caller) === flight) own.delete(caller);
        };
        // A failure reaches every caller that waits; the next read sends a new request.
        void flight.answer.then((answer) => {
          land();
          if (flight.leftIn === epoch) cached = { answer, epoch, at: system.elapsed() };
        }, land);
        return flight;
      };

      return ({ freshness = 'shared', urgency = 'user', caller, workspaceId, onWait } = {}) => {
        if (cached && isFresh(freshness)) return Promise.resolve(cached.answer);
        const shared = [newest, own.get(caller)].find(
          (flight) => flight && fits(flight, freshness, urgency, caller),
        );
        const flight = shared ?? start(urgency, caller, workspaceId);
        if (onWait && flight.listeners) flight.listeners.push(onWait);
        else onWait?.(flight.wait);
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
