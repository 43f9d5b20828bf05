import type { Catalog } from '../core/catalog.ts';
import { HostingError, Refusal } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import type { ServerList } from '../core/server.ts';
import type { System } from '../system.ts';
import { type Endpoint, fetchCatalog, listPage, SERVERS_PATH } from './endpoints.ts';
import type { OnWait, PaidCallOptions } from './hosting-api.ts';
import { type CallBy, type Job, type Limiter, NOTIFY_AFTER_MS } from './limiter.ts';
import { decode } from './read-catalog.ts';
import { RateLimitedError } from './refusals.ts';
import type { Transport } from './send.ts';
import { createPathFinder, readAllPages } from './server-list.ts';
import type { Read, Reader, Share } from './share.ts';
import { type HeldSlot, sleepUnless } from './slots.ts';

/** One attempt at a request, for metrics; also one that failed before its first byte left. No secrets. */
export interface CallReport {
  /** The endpoint's name. */
  readonly operation: string;
  /** Absent if no answer arrived. */
  readonly status?: number;
  /** The code of the failure; absent for a success. */
  readonly code?: string;
  readonly durationMs: number;
  /** How long the attempt waited for the limiter. */
  readonly waitedMs: number;
}

interface ChainParts {
  readonly key: Secret<string>;
  readonly baseUrl: string;
  readonly system: System;
  readonly limiter: Limiter;
  readonly share: Share;
  readonly transport: Transport;
  readonly closing: AbortSignal;
  readonly onCall: (report: CallReport) => void;
  readonly onUnreadable: (operation: string, count: number) => void;
  readonly onIncomplete: (list: ServerList) => void;
  /** Called for every failed attempt. The error's details have nothing from the answer's body but a code made of letters. */
  readonly onFailure: (error: HostingError) => void;
}

/** The calls of one account. Errors are those of `HostingApi`. */
export interface Chain {
  readonly readCatalog: Reader<Catalog>;
  readonly readServers: Reader<ServerList>;
  /** Sends a change and invalidates cached reads. Money effect: that of the endpoint. */
  change<Answer>(endpoint: Endpoint<Answer>, options?: ChangeOptions): Promise<Answer>;
}

type ChangeOptions = CallBy & Partial<Pick<PaidCallOptions, 'beforeSend'>>;

const KEEP_CATALOG_MS = 5 * 60_000;
const KEEP_SERVERS_MS = 2_000;
/** While no more calls wait than this, a read that another caller asked for is sent as soon as one's own. */
const FEW_WAITING = 10;

/**
 * Creates the chain of handlers of one account: share(retry(limit(decode(send)))).
 *
 * The order matters. Sharing is outermost, so that a read that many users wait for costs one call and is retried once
 * for all of them. Retrying is outside limiting, so that every try takes a slot and commits `beforeSend` again: a try
 * without a slot would be a request that the limiter doesn't know about. Decoding is inside both, because the retry
 * depends on the decoded code. Sending is innermost: after `beforeSend`, it waits only for a connection, and not for long.
 */
export function createChain(parts: ChainParts): Chain {
  const { system, limiter, share, closing } = parts;
  const pause = (ms: number) => limiter.pause(ms);

  function call<Answer>(endpoint: Endpoint<Answer>, job: Omit<Job<Answer>, 'send'>): Promise<Answer> {
    const onWait = job.onWait && once(harmless(job.onWait));
    const send = (waitedMs: number, slot: HeldSlot) => exchange(parts, endpoint, waitedMs, slot);
    return retry(() => limiter.run({ ...job, onWait, send }), onWait, { system, pause, closing });
  }

  const findPath = createPathFinder(parts.baseUrl, SERVERS_PATH);
  // `beforeSend` only with the first page: the list may miss changes that happen after that was requested.
  const fetchPage =
    ({ beforeSend, ...read }: Read) =>
    (path: string) =>
      call(listPage(path), { ...read, ...(path === SERVERS_PATH && { beforeSend }) });

  const isBusy = () => {
    const { taken, limit, waiting } = limiter.budget();
    return taken >= limit || waiting > FEW_WAITING;
  };

  return {
    readCatalog: share.reader(KEEP_CATALOG_MS, (read) => call(fetchCatalog, read), isBusy),
    readServers: share.reader(
      KEEP_SERVERS_MS,
      async (read) => {
        const list = await readAllPages(SERVERS_PATH, fetchPage(read), findPath);
        if (list.extent !== 'whole') harmless(parts.onIncomplete)(list);
        return list;
      },
      isBusy,
    ),
    change: (endpoint, { urgency = 'user', caller, workspaceId, onWait, beforeSend } = {}) =>
      share.change(() => call(endpoint, { urgency, caller, workspaceId, onWait, beforeSend })),
  };
}

/** Sends one request, decodes its answer, and reports the result. */
async function exchange<Answer>(
  parts: ChainParts,
  endpoint: Endpoint<Answer>,
  waitedMs: number,
  slot: HeldSlot,
): Promise<Answer> {
  const { key, system, transport } = parts;
  const { operation } = endpoint;
  const onCall = harmless(parts.onCall);
  const onUnreadable = harmless((count: number) => parts.onUnreadable(operation, count));
  const startedAt = system.elapsed();
  const report = (outcome: { status?: number; code?: string }) =>
    onCall({ operation, ...outcome, durationMs: system.elapsed() - startedAt, waitedMs });
  try {
    const answer = await transport.send(endpoint, key, () => endpoint.method !== 'GET' && slot.isTooOld);
    const decoded = decode(endpoint, answer, onUnreadable);
    report({ status: answer.status });
    return decoded;
  } catch (error) {
    if (error instanceof HostingError) {
      const { status } = error.details;
      report({ code: error.code, ...(status !== undefined && { status }) });
      harmless(parts.onFailure)(error);
    }
    throw error;
  }
}

/** Wraps a listener so that it never throws: an error in it must not lose an answer that may hold a root password. */
function harmless<Args extends unknown[]>(listener: (...args: Args) => void): (...args: Args) => void {
  return (...args) => {
    try {
      listener(...args);
    } catch {
      // Listeners only log or notify; the call continues.
    }
  };
}

function once(listener: OnWait): OnWait {
  let isCalled = false;
  return (wait) => {
    if (!isCalled) listener(wait);
    isCalled = true;
  };
}

interface RetryOptions {
  readonly system: System;
  /** Holds back all calls of the account for this long, in milliseconds. */
  readonly pause: (ms: number) => void;
  /** Ends every wait. */
  readonly closing: AbortSignal;
}

/** How a failure is retried (docs/hosting-api.md 7.7, 8.5). A `Retry-After` takes the place of the random waits. */
interface Policy {
  /** The longest wait before each further try; the actual one is random ("full jitter"). */
  readonly longestMs: readonly number[];
  /** How long after the first failure the last wait may end. The try then still waits for a slot. */
  readonly totalMs: number;
  /** How long after the first failure the last wait ends at the earliest. */
  readonly lastAfterMs: number;
}

const POLICIES = {
  // The service counts by the minute (docs/hosting-api.md 8.1): the last try comes when a whole one has passed.
  rate_limited: { longestMs: [2_000, 4_000, 8_000, 16_000, 5_000], totalMs: 75_000, lastAfterMs: 61_000 },
  not_sent: { longestMs: [500, 1_500, 3_000], totalMs: 5_000, lastAfterMs: 0 },
} as const satisfies Record<string, Policy>;

const MOST_RETRY_AFTER_MS = 60_000;
const JITTER_MS = 1_000;

/**
 * Sends, and retries only after the two failures that prove that nothing was done: `rate_limited` and `not_sent`. Money effect: a
 * call that may have been charged (`moneyMoved: 'maybe'`) is never sent again.
 * @throws what the last try threw; Refusal `shutting_down` if the client closes during a wait
 */
export async function retry<Answer>(
  send: () => Promise<Answer>,
  onWait: OnWait | undefined,
  { system, pause, closing }: RetryOptions,
): Promise<Answer> {
  const failures = { rate_limited: newCount(), not_sent: newCount() };
  for (;;) {
    try {
      return await send();
    } catch (error) {
      const code = findRetryable(error);
      if (!code) throw error;
      const waitMs = nextWait(POLICIES[code], failures[code], error, system);
      if (waitMs === undefined) throw error;
      if (code === 'rate_limited') pause(waitMs);
      if (waitMs >= NOTIFY_AFTER_MS) onWait?.({ estimateMs: waitMs });
      if (!(await sleepUnless(closing, waitMs, system))) throw new Refusal('shutting_down', {});
    }
  }
}

interface Count {
  tries: number;
  firstAt: number | undefined;
}

function newCount(): Count {
  return { tries: 0, firstAt: undefined };
}

function findRetryable(error: unknown): keyof typeof POLICIES | undefined {
  if (!(error instanceof HostingError) || error.moneyMoved !== 'no') return undefined;
  return error.code === 'rate_limited' || error.code === 'not_sent' ? error.code : undefined;
}

/** Returns the milliseconds until the next try; undefined if there is none. */
function nextWait(policy: Policy, count: Count, error: unknown, system: System): number | undefined {
  const now = system.elapsed();
  count.firstAt ??= now;
  const longestMs = policy.longestMs[count.tries++];
  if (longestMs === undefined) return undefined;
  const isLast = count.tries === policy.longestMs.length;
  const earliest = isLast ? count.firstAt + policy.lastAfterMs : now;
  const requestedMs =
    error instanceof RateLimitedError ? parseRetryAfter(error.retryAfter, system.now()) : undefined;
  const waitMs =
    requestedMs === undefined
      ? Math.max(0, earliest - now) + system.random() * longestMs
      : requestedMs + system.random() * JITTER_MS;
  return now + waitMs - count.firstAt > policy.totalMs ? undefined : waitMs;
}

/** Reads a `Retry-After` header (RFC 9110, section 10.2.3) as milliseconds from now, 60 s at most; undefined if unreadable. */
function parseRetryAfter(written: string | undefined, now: number): number | undefined {
  if (written === undefined) return undefined;
  const ms = /^\d+$/.test(written.trim()) ? Number(written) * 1_000 : Date.parse(written) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MOST_RETRY_AFTER_MS);
}
