import { createHash, timingSafeEqual } from 'node:crypto';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Secret } from '../core/secret.ts';

/** The numbers of `/metrics`: no IDs, no server labels, no secrets. */
export interface Metrics {
  /** Counts one attempt at a call of the hosting API. Times in milliseconds. */
  hostingCall(report: {
    operation: string;
    code?: string | undefined;
    durationMs: number;
    waitedMs: number;
  }): void;
  /** Sets the function that counts what is stored, for each time the numbers are read. */
  onRead(read: () => Promise<{ openOperations: number; undeliveredPasswords: number }>): void;
  /** Writes the numbers. @throws what the function of `onRead` throws */
  text(): Promise<string>;
  readonly contentType: string;
}

/** Creates the numbers of `/metrics`, in Prometheus's text format. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const calls = countCalls(registry);
  const state = gaugeState(registry);
  let read: Parameters<Metrics['onRead']>[0] = async () => ({ openOperations: 0, undeliveredPasswords: 0 });
  return {
    contentType: registry.contentType,
    hostingCall: calls,
    onRead: (reader) => {
      read = reader;
    },
    text: async () => {
      state(await read());
      return registry.metrics();
    },
  };
}

/** Whether an `Authorization` header has this bearer token. */
export function hasToken(authorization: string | undefined, token: Secret<string>): boolean {
  const given = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  // Hashes have one length, so the time of the comparison reveals nothing about the token.
  return timingSafeEqual(hash(given), hash(token.reveal()));
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Registers the numbers about calls, and returns the function that counts one. */
function countCalls(registry: Registry): Metrics['hostingCall'] {
  const registers = [registry];
  const calls = new Counter({
    name: 'vps_hosting_calls_total',
    help: 'Requests sent to the hosting API, by operation and outcome',
    labelNames: ['operation', 'outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'vps_hosting_call_seconds',
    help: 'How long the hosting API took to answer',
    labelNames: ['operation'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const waits = new Histogram({
    name: 'vps_limiter_wait_seconds',
    help: 'How long requests waited for the limit of requests per minute',
    buckets: [0.01, 0.1, 1, 5, 15, 60],
    registers,
  });
  return ({ operation, code, durationMs, waitedMs }) => {
    calls.inc({ operation, outcome: code ?? 'ok' });
    durations.observe({ operation }, durationMs / 1000);
    waits.observe(waitedMs / 1000);
  };
}

/** Registers the numbers about what is stored, and returns the function that sets them. */
function gaugeState(registry: Registry) {
  const registers = [registry];
  const open = new Gauge({
    name: 'vps_operations_open',
    help: 'Paid operations that are neither settled nor refused',
    registers,
  });
  const undelivered = new Gauge({
    name: 'vps_passwords_undelivered',
    help: 'Stored root passwords that their creators have not opened yet',
    registers,
  });
  return (found: { readonly openOperations: number; readonly undeliveredPasswords: number }): void => {
    open.set(found.openOperations);
    undelivered.set(found.undeliveredPasswords);
  };
}
