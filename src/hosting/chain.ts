import type { OnWait, PaidCallOptions } from '../app/hosting-api.ts';
import type { Catalog } from '../domain/catalog.ts';
import { HostingError } from '../domain/errors.ts';
import type { Secret } from '../domain/secret.ts';
import type { ServerList } from '../domain/server.ts';
import type { System } from '../system.ts';
import type { CallBy, CallLimiter, CallSlot, Job } from './call-limiter.ts';
import { decode } from './decode.ts';
import type { Endpoint } from './endpoint.ts';
import { fetchCatalog, listPage, SERVERS_PATH } from './endpoints.ts';
import { createPathFinder, readAllPages } from './pages.ts';
import { retry } from './retry.ts';
import type { Transport } from './send.ts';
import type { Read, Reader, Share } from './share.ts';

/** One request that was sent, for logs and metrics. No secrets. */
export interface CallReport {
  readonly operation: string;
  readonly status?: number;
  readonly code?: string;
  readonly durationMs: number;
  /** How long it waited for the limiter. */
  readonly waitedMs: number;
}

export interface ChainParts {
  readonly key: Secret<string>;
  readonly baseUrl: string;
  readonly system: System;
  readonly limiter: CallLimiter;
  /** Shared by all chains of an account: a change through any of them invalidates the cached answers of all. */
  readonly share: Share;
  readonly transport: Transport;
  readonly closing: AbortSignal;
  readonly onCall: (report: CallReport) => void;
  readonly onUnreadable: (operation: string, count: number) => void;
  readonly onIncomplete: (list: ServerList) => void;
  /** Called for every failed call. It gets nothing from the answer's body except a code made of letters. */
  readonly onFailure: (error: HostingError) => void;
}

/** How the calls of one account are made. */
export interface Chain {
  readonly readCatalog: Reader<Catalog>;
  readonly readServers: Reader<ServerList>;
  change<Answer>(endpoint: Endpoint<Answer>, options?: ChangeOptions): Promise<Answer>;
}

type ChangeOptions = CallBy & Partial<Pick<PaidCallOptions, 'beforeSend'>>;

const KEEP_CATALOG_MS = 5 * 60_000;
const KEEP_SERVERS_MS = 2_000;
/** While so few calls wait, a read that another caller asked for is sent as soon as one's own. */
const FEW_WAITING = 10;

/**
 * Puts the handlers of one account together: share(retry(limit(decode(send)))).
 *
 * The order matters. Sharing is outermost, so that a read that many users wait for costs one call and is retried once
 * for all of them. Retrying is outside limiting, so that every try takes a slot and commits `beforeSend` again: a try
 * without a slot would be a request that the limiter doesn't know about. Decoding is inside both, because the retry
 * depends on the decoded code. Sending is innermost: after `beforeSend` only a connection is waited for, and not for long.
 */
export function createChain(parts: ChainParts): Chain {
  const { system, limiter, share, closing } = parts;
  const pause = (ms: number) => limiter.pause(ms);

  function call<Answer>(endpoint: Endpoint<Answer>, job: Omit<Job<Answer>, 'send'>): Promise<Answer> {
    const onWait = job.onWait && once(harmless(job.onWait));
    const send = (waitedMs: number, slot: CallSlot) => exchange(parts, endpoint, waitedMs, slot);
    return retry(() => limiter.run({ ...job, onWait, send }), onWait, { system, pause, closing });
  }

  const findPath = createPathFinder(parts.baseUrl, SERVERS_PATH);
  // The list may miss changes that happen after its first page was requested.
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
    change: (endpoint, { urgency = 'user', caller, onWait, beforeSend } = {}) =>
      share.change(() => call(endpoint, { urgency, caller, onWait, beforeSend })),
  };
}

/** Sends and decodes, and reports the result. */
async function exchange<Answer>(
  parts: ChainParts,
  endpoint: Endpoint<Answer>,
  waitedMs: number,
  slot: CallSlot,
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

/** A listener that throws must not lose an answer that may hold a root password. */
function harmless<Told extends unknown[]>(tell: (...told: Told) => void): (...told: Told) => void {
  return (...told) => {
    try {
      tell(...told);
    } catch {
      // Listeners only log or notify; the call continues.
    }
  };
}

function once(tell: OnWait): OnWait {
  let isTold = false;
  return (wait) => {
    if (!isTold) tell(wait);
    isTold = true;
  };
}
