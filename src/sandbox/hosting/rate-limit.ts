import type { HostingSnapshot } from './snapshot.ts';

const MINUTE_MS = 60_000;

/** The two ways of counting "300 requests a minute" that are possible (docs/hosting-api.md 8). */
export type RateCounting = 'sliding_log' | 'fixed_window';

/**
 * Counts an account's requests. Only accepted requests count: a refused one neither uses up the minute nor
 * prolongs the refusal, which is the mildest reading (docs/hosting-api.md 8).
 */
export class RateLimit {
  readonly #perMinute: number;
  readonly #counting: RateCounting;
  readonly #accepted = new Map<number, number[]>();

  constructor(perMinute: number, counting: RateCounting, kept: HostingSnapshot['accepted'] = []) {
    this.#perMinute = perMinute;
    this.#counting = counting;
    for (const { accountId, atMs } of kept) this.#accepted.set(accountId, [...atMs]);
  }

  /** What a restart must not forget: a new process does not make the minute new. */
  snapshot(nowMs: number): HostingSnapshot['accepted'] {
    return [...this.#accepted].map(([accountId, all]) => {
      return { accountId, atMs: all.filter((atMs) => atMs > nowMs - MINUTE_MS) };
    });
  }

  /** Whether the account may send one more request now; a yes is counted. */
  accept(accountId: number, nowMs: number): boolean {
    const openedMs = this.#counting === 'sliding_log' ? nowMs - MINUTE_MS : startOfMinute(nowMs) - 1;
    const recent = (this.#accepted.get(accountId) ?? []).filter((atMs) => atMs > openedMs);
    const isAccepted = recent.length < this.#perMinute;
    if (isAccepted) recent.push(nowMs);
    this.#accepted.set(accountId, recent);
    return isAccepted;
  }
}

function startOfMinute(atMs: number): number {
  return Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
}
