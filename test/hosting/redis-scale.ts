/** 30 calls per 2 s stand for 300 per minute. */
export const LIMIT = 30;
export const WINDOW_MS = 2000;
export const SCALED = { account: 'a', timeoutMs: 1000, limit: LIMIT, windowMs: WINDOW_MS, maxWaitMs: 60_000 };
