import { setMaxListeners } from 'node:events';
import { HostingError, Refusal } from '../core/errors.ts';
import type { AccountNames, UserId, WorkspaceId } from '../core/ids.ts';
import type { Secret } from '../core/secret.ts';
import type { System } from '../system.ts';
import {
  changePower,
  createServer,
  deleteServer,
  type Endpoint,
  fetchCatalog,
  listPage,
  renewServer,
  SERVERS_PATH,
} from './endpoints.ts';
import type { ApiCalls, CallOptions, HostingApi, OnWait, PaidCallOptions } from './hosting-api.ts';
import { type CallMaker, type Job, Limiter, NOTIFY_AFTER_MS } from './limiter.ts';
import { decode } from './read-catalog.ts';
import { RateLimitedError } from './refusals.ts';
import { createTransport, type Transport } from './send.ts';
import { createPathFinder, readAllPages } from './server-list.ts';
import { createShare, type Read, type Share } from './share.ts';
import { type IsTooLate, sleepUnless } from './slots.ts';

export interface HostingOptions {
  /** The base address of the API, with its version (docs/hosting-api.md 9.1). */
  readonly baseUrl: string;
  /** The timeout of one request, in milliseconds. */
  readonly timeoutMs: number;
  readonly system: System;
  /** The taken slots, stored across restarts and shared with other processes. */
  readonly calls: ApiCalls;
  /** Names a key (`Vault.namesOf`). */
  readonly namesOf: (key: Secret<string>) => AccountNames;
  readonly log?: { warn(fields: object, message: string): void };
  /** Called after every attempt at a request, for metrics. */
  readonly onCall?: (report: CallReport) => void;
  /** Used instead of the client's own connections. */
  readonly transport?: Transport;
}

/** What is shared by all who use one key. */
interface Account {
  readonly limiter: Limiter;
  readonly apiOf: (maker: CallMaker) => HostingApi;
}

export type Hosting = ReturnType<typeof createHosting>;

/** Creates the client of the hosting API. Sends nothing and opens no connection yet. */
export function createHosting(options: HostingOptions) {
  const { namesOf, timeoutMs, system, calls, onCall, log } = options;
  const transport = options.transport ?? createTransport(options);
  const report = harmless((attempt: CallReport) => onCall?.(attempt));
  const warn = harmless((fields: object, words: string) => log?.warn(fields, words));
  /** By the first names of their keys. */
  const accounts = new Map<string, Account>();
  const ending = new AbortController();
  const closing = ending.signal;
  // Every call that waits for a retry adds a listener, so many of them are no leak.
  setMaxListeners(0, closing);
  let closed: Promise<void> | undefined;

  const open = (names: AccountNames, key: Secret<string>): Account => {
    const limiter = new Limiter({ system, calls, account: names, timeoutMs });
    if (closing.aborted) limiter.close();
    const share = createShare(system);
    const parts = { ...options, account: names, key, limiter, share, transport, closing, report, warn };
    return { limiter, apiOf: createChain(parts) };
  };

  return {
    /**
     * Opens the API of the account behind this key, without a request. All users of a key share its reads and its limiter. Calls
     * also count for their workspace: two of its keys, which may belong to one account, together stay within 300 requests a
     * minute (docs/design.md 6.2). At most 25 calls of one `caller` may wait, besides reads.
     */
    of: (key: Secret<string>, workspaceId?: WorkspaceId, caller?: UserId): HostingApi => {
      const names = namesOf(key);
      const account = accounts.get(names[0]) ?? open(names, key);
      accounts.set(names[0], account);
      return account.apiOf({ caller, workspaceId });
    },
    /** Returns how much of its minute the busiest account has used, and how many calls of all accounts wait. */
    budget: () => {
      const budgets = [...accounts.values()].map(({ limiter }) => limiter.budget());
      return {
        taken: Math.max(0, ...budgets.map(({ taken }) => taken)),
        waiting: budgets.reduce((sum, { waiting }) => sum + waiting, 0),
      };
    },
    /** Refuses waiting calls, lets requests in flight end, closes the connections. */
    close: (): Promise<void> => {
      ending.abort();
      for (const { limiter } of accounts.values()) limiter.close();
      closed ??= transport.close();
      return closed;
    },
  };
}

/** One attempt at a request, for metrics; also one that failed before its first byte left. No secrets. */
export interface CallReport {
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
  readonly account: AccountNames;
  readonly baseUrl: string;
  readonly key: Secret<string>;
  readonly system: System;
  readonly limiter: Limiter;
  readonly share: Share;
  readonly transport: Transport;
  readonly closing: AbortSignal;
  readonly report: (attempt: CallReport) => void;
  readonly warn: (fields: object, words: string) => void;
}

const KEEP_CATALOG_MS = 5 * 60_000;
const KEEP_SERVERS_MS = 2_000;

/**
 * Creates the chain of handlers of one account, share(retry(limit(decode(send)))), and returns what makes the API of a caller.
 *
 * The order matters. Sharing is outermost, so that a read that many users wait for costs one call and is retried once
 * for all of them. Retrying is outside limiting, so that every try takes a slot and commits `beforeSend` again: a try
 * without a slot would be a request that the limiter doesn't know about. Decoding is inside both, because the retry
 * depends on the decoded code. Sending is innermost: after `beforeSend`, it waits only for a connection, and not for long.
 */
function createChain(parts: ChainParts): Account['apiOf'] {
  const { account, system, limiter, share, closing, warn } = parts;
  const pause = (ms: number) => limiter.pause(ms);

  function call<Answer>(endpoint: Endpoint<Answer>, job: Omit<Job<Answer>, 'send'>): Promise<Answer> {
    const onWait = job.onWait && once(harmless(job.onWait));
    const send = (waitedMs: number, isTooLate: IsTooLate) => exchange(parts, endpoint, waitedMs, isTooLate);
    return retry(() => limiter.run({ ...job, onWait, send }), onWait, { system, pause, closing });
  }

  const findPath = createPathFinder(parts.baseUrl, SERVERS_PATH);
  // `beforeSend` only with the first page: the list may miss changes that happen after that was requested.
  const fetchPage =
    ({ beforeSend, ...read }: Read) =>
    (path: string) =>
      call(listPage(path), { ...read, ...(path === SERVERS_PATH && { beforeSend }) });

  const readCatalog = share.reader(KEEP_CATALOG_MS, async (by) => {
    const catalog = await call(fetchCatalog, by);
    const { plans, locations, images } = catalog;
    const read = { plans: plans.length, locations: locations.length, images: images.length };
    if (catalog.isPart) warn({ read }, 'the catalog is incomplete');
    return catalog;
  });
  const readServers = share.reader(KEEP_SERVERS_MS, async (by) => {
    const startedAt = system.elapsed();
    const list = await readAllPages(SERVERS_PATH, fetchPage(by), findPath);
    const { servers, extent, unreadableCount } = list;
    if (extent !== 'whole')
      warn({ read: servers.length, unreadableCount }, 'the list of servers is incomplete');
    return { ...list, tookMs: Math.round(system.elapsed() - startedAt) };
  });
  return (maker) => {
    const { workspaceId } = maker;
    /** Sends a change and invalidates cached reads. Money effect: that of the endpoint. */
    const change = <Answer>(endpoint: Endpoint<Answer>, options?: CallOptions & Partial<PaidCallOptions>) =>
      share.change(() => call(endpoint, { ...options, ...maker, urgency: options?.urgency ?? 'user' }));
    return {
      account,
      fetchCatalog: (options) => readCatalog({ ...options, workspaceId }),
      fetchServers: (options) => readServers({ ...options, workspaceId }),
      createServer: (order, options) => change(createServer(order), options),
      renewServer: (id, options) => change(renewServer(id), options),
      changePower: (action, id, options) => change(changePower(action, id), options),
      deleteServer: (id, options) => change(deleteServer(id), options),
      budget: () => limiter.budget(),
    };
  };
}

/** Sends one request, decodes its answer, and reports the result. */
async function exchange<Answer>(
  { key, system, transport, report, warn }: ChainParts,
  endpoint: Endpoint<Answer>,
  waitedMs: number,
  isTooLate: IsTooLate,
): Promise<Answer> {
  const { operation } = endpoint;
  const startedAt = system.elapsed();
  const end = (outcome: { status?: number; code?: string }) =>
    report({ operation, ...outcome, durationMs: system.elapsed() - startedAt, waitedMs });
  try {
    const answer = await transport.send(endpoint, key, isTooLate);
    const decoded = decode(endpoint, answer);
    end({ status: answer.status });
    return decoded;
  } catch (error) {
    if (error instanceof HostingError) {
      // The details have nothing from the answer's body but a code made of letters.
      const { code, details } = error;
      end({ code, status: details.status });
      warn({ ...details, code }, 'a call to the hosting API failed');
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
  return () => {
    if (!isCalled) listener();
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
  const failures: Partial<Record<keyof typeof POLICIES, Count>> = {};
  for (;;) {
    try {
      return await send();
    } catch (error) {
      const code = findRetryable(error);
      if (!code) throw error;
      failures[code] ??= { tries: 0, firstAt: system.elapsed() };
      const waitMs = nextWait(POLICIES[code], failures[code], error, system);
      if (waitMs === undefined) throw error;
      if (code === 'rate_limited') pause(waitMs);
      if (waitMs >= NOTIFY_AFTER_MS) onWait?.();
      if (!(await sleepUnless(closing, waitMs, system))) throw new Refusal('shutting_down', {});
    }
  }
}

interface Count {
  tries: number;
  readonly firstAt: number;
}

function findRetryable(error: unknown): keyof typeof POLICIES | undefined {
  if (!(error instanceof HostingError) || error.moneyMoved !== 'no') return undefined;
  return error.code === 'rate_limited' || error.code === 'not_sent' ? error.code : undefined;
}

/** Returns the milliseconds until the next try; undefined if there is none. */
function nextWait(policy: Policy, count: Count, error: unknown, system: System): number | undefined {
  const now = system.elapsed();
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
