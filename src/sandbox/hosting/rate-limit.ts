const MINUTE_MS = 60_000;

/** The two ways of counting "300 requests a minute" that the API document, section 8, leaves open. */
export type RateCounting = 'sliding_log' | 'fixed_window';

/**
 * Counts an account's requests. Only accepted requests count: a refused one neither uses up the minute nor
 * prolongs the refusal, which is the mildest reading of the API document, section 8.
 */
export class RateLimit {
  readonly #perMinute: number;
  readonly #counting: RateCounting;
  readonly #accepted = new Map<number, number[]>();

  constructor(perMinute: number, counting: RateCounting) {
    this.#perMinute = perMinute;
    this.#counting = counting;
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
