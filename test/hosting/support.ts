import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import { HostingError } from '../../src/core/errors.ts';
import { Secret } from '../../src/core/secret.ts';
import { createHosting, type HostingOptions } from '../../src/hosting/client.ts';
import type { ApiCalls } from '../../src/hosting/hosting-api.ts';
import type { HostingOptions as ServiceOptions } from '../../src/sandbox/hosting/hosting.ts';
import { startHosting } from '../../src/sandbox/hosting/start.ts';
import { realSystem, type System } from '../../src/system.ts';
import { vault } from '../db/fixtures.ts';
import { fallAsleep, type Sleeper } from '../support/clocks.ts';

export const KEY = new Secret('key-of-the-account');
export const ORDER = { plan: 's1', location: 'fra', image: 'debian-12', label: 'web-1' };
export const PAY = { beforeSend: async () => {} };

interface MemorySlot {
  readonly account: string;
  readonly workspaceId: string;
  readonly at: number;
}

/** The taken slots, in memory, as `src/db/api-calls.ts` stores them. */
export function memoryCalls(
  now: () => number = Date.now,
): ApiCalls & { readonly rows: Map<string, MemorySlot> } {
  const rows = new Map<string, MemorySlot>();
  const removeOver = (maxHoldMs: number) => {
    const at = now();
    for (const [id, row] of rows) if (row.at <= at - maxHoldMs || row.at > at + maxHoldMs) rows.delete(id);
  };
  const count = (isSame: (row: MemorySlot) => boolean) => [...rows.values()].filter(isSame).length;
  return {
    rows,
    take: async ({ id, account, workspaceId }, { limit, maxHoldMs }, freed = []) => {
      for (const over of freed) rows.delete(over);
      removeOver(maxHoldMs);
      const isFree =
        count((row) => account.includes(row.account)) < limit &&
        (workspaceId === '' || count((row) => row.workspaceId === workspaceId) < limit);
      if (isFree) rows.set(id, { account: account[0], workspaceId, at: now() });
      return isFree;
    },
    release: async (ids, maxHoldMs) => {
      for (const id of ids) rows.delete(id);
      removeOver(maxHoldMs);
    },
    listTaken: async (name) =>
      [...rows].filter(([, row]) => row.account === name || row.workspaceId === name).map(([id]) => id),
  };
}

/** The most arrivals in any half-open minute, wherever it begins. */
export function mostInAnyWindow(arrivals: readonly number[]): number {
  const sorted = [...arrivals].sort((a, b) => a - b);
  let most = 0;
  let first = 0;
  for (const [index, at] of sorted.entries()) {
    while (at - (sorted[first] ?? at) >= 60_000) first++;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

/** A clock that stands still until something sleeps, and then jumps to the end of the sleep. */
export function jumpingSystem(random = 0.5): System & { readonly slept: number[] } {
  let elapsed = 0;
  const slept: number[] = [];
  return {
    ...realSystem,
    slept,
    now: () => 1_700_000_000_000 + elapsed,
    elapsed: () => elapsed,
    random: () => random,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      slept.push(ms);
      elapsed += ms;
    },
  };
}

/** Real time, except for longer sleeps: they last until `endSleeps`, so that a test decides when a timeout happens. */
export function heldSystem(): System & { endSleeps(): void } {
  const sleepers = new Set<Sleeper>();
  let skippedMs = 0;
  return {
    ...realSystem,
    elapsed: () => realSystem.elapsed() + skippedMs,
    sleep: (ms, signal) =>
      ms <= 20 ? realSystem.sleep(ms, signal) : fallAsleep(sleepers, Number.POSITIVE_INFINITY, signal),
    endSleeps() {
      skippedMs += 600_000;
      for (const { wake } of sleepers) wake();
      sleepers.clear();
    },
  };
}

/** Stops the clock of the whole process, including Bottleneck's; sockets continue. */
export function holdTime(): { readonly system: System; pass(ms: number): Promise<void> } {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
    now: 1_700_000_000_000,
  });
  onTestFinished(() => void vi.useRealTimers());
  return { system: timerSystem, pass };
}

const timerSystem: System = {
  ...realSystem,
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', stop, { once: true });
    }),
};

/** Advances the stopped clock by so many milliseconds, timer by timer. Many times faster than vitest's own. */
async function pass(ms: number): Promise<void> {
  let isOver = false;
  await settle();
  setTimeout(() => {
    isOver = true;
  }, ms);
  while (!isOver) {
    vi.advanceTimersToNextTimer();
    await settle();
  }
  await settle();
}

/** Lets all pending promises settle. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

interface Arrival {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
  /** Resolves when its connection is closed. */
  readonly cut: Promise<void>;
}

/** A minimal service on loopback; it has read the whole request when `answer` is called. */
export async function startServer(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const arrivals: Arrival[] = [];
  const sockets = new Set<Socket>();
  const cuts = new WeakMap<Socket, Promise<void>>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers, socket } = request;
      const cut = cuts.get(socket) ?? Promise.resolve();
      arrivals.push({ method, url, body: Buffer.concat(chunks).toString(), headers, cut });
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const started = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    arrivals,
    sockets,
    /** Connections that were ever opened. */
    connections: 0,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  server.on('connection', (socket) => {
    started.connections++;
    sockets.add(socket);
    const cut = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    cuts.set(socket, cut);
    void cut.then(() => sockets.delete(socket));
  });
  onTestFinished(() => started.close());
  return started;
}

/** The client in front of such a service. */
export function startClient(baseUrl: string, options: Partial<HostingOptions> = {}) {
  const hosting = createHosting({
    baseUrl,
    timeoutMs: 30_000,
    system: realSystem,
    calls: memoryCalls(),
    namesOf: vault.namesOf,
    ...options,
  });
  onTestFinished(() => hosting.close());
  return { hosting, api: hosting.of(KEY) };
}

/** The client in front of the whole service, with an account that has paid in 100.00. */
export async function startService(options: ServiceOptions = {}, system = realSystem) {
  const service = await startHosting(options);
  onTestFinished(() => service.close());
  const account = service.accounts.create({ name: 'team', balanceMinor: 100_00 });
  const { hosting } = startClient(service.baseUrl, { system });
  return { service, account, api: hosting.of(new Secret(service.createKey(account))) };
}

/** The HostingError that this call ends with. */
export async function failureOf(call: Promise<unknown>): Promise<HostingError> {
  const failure = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof HostingError) return failure;
  throw new Error(`expected a HostingError, got ${failure === undefined ? 'an answer' : String(failure)}`);
}
