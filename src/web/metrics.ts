import { createHash, timingSafeEqual } from 'node:crypto';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Secret } from '../core/secret.ts';
import type { Counts } from '../db/open-store.ts';
import type { CallReport } from '../hosting/client.ts';

interface Reading {
  readonly counts: Counts;
  /** The limiter of the account that has used the most of its minute, and the calls of all accounts that wait. */
  readonly budget: { readonly taken: number; readonly waiting: number };
  /** Whether `/readyz` says `ok`. */
  readonly isReady: boolean;
  /** Whether requests of Slack can arrive. */
  readonly isConnected: boolean;
  readonly now: number;
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Creates the numbers of `/metrics`, in Prometheus's text format: no IDs, no server labels, no secrets. docs/operating.md says what
 * each means.
 */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const hostingCalls = new Counter({
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
    help: 'How long requests waited for the limit of 300 a minute',
    buckets: [0.01, 0.1, 1, 5, 15, 60],
    registers,
  });
  const slackCalls = new Counter({
    name: 'vps_slack_calls_total',
    help: 'Calls to Slack, by method and outcome',
    labelNames: ['method', 'outcome'],
    registers,
  });
  const acks = new Histogram({
    name: 'vps_slack_ack_seconds',
    help: 'How long Slack waited for the acknowledgment of a request; it gives up after 3 s',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3],
    registers,
  });
  const denied = new Counter({
    name: 'vps_denied_total',
    help: 'Denied attempts, each with an entry in the audit log',
    registers,
  });
  const setState = gaugeState(registry);
  let read: (() => Promise<Reading>) | undefined;
  return {
    contentType: registry.contentType,
    hostingCall: ({ operation, code, durationMs, waitedMs }: CallReport): void => {
      hostingCalls.inc({ operation, outcome: code ?? 'ok' });
      durations.observe({ operation }, durationMs / 1000);
      waits.observe(waitedMs / 1000);
    },
    /** Counts one answer of Slack to a call; `error` is its code, absent if Slack took the call. */
    slackCall: ({ method, error = 'ok' }: { method: string; error?: string | undefined }): void => {
      // A code that isn't plain may repeat what was posted.
      slackCalls.inc({ method, outcome: /^\w{1,60}$/.test(error) ? error : 'unreadable' });
    },
    /** Counts a request of Slack that took this long to be acknowledged, or that Slack gave up after this long. */
    slackAck: (ms: number): void => acks.observe(ms / 1000),
    audited: ({ outcome }: { outcome: string }): void => {
      if (outcome === 'denied') denied.inc();
    },
    /** Sets the function that reads the present state, each time the numbers are read. */
    onRead: (reader: () => Promise<Reading>): void => {
      read = reader;
    },
    /** Writes the numbers. @throws what the function of `onRead` throws */
    text: async (): Promise<string> => {
      if (read) setState(await read());
      return registry.metrics();
    },
  };
}

export function hasToken(authorization: string | undefined, token: Secret<string>): boolean {
  const given = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  // Hashes have one length, so the time of the comparison reveals nothing about the token.
  return timingSafeEqual(hash(given), hash(token.reveal()));
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Registers the numbers about the present state, and returns the function that sets them. */
function gaugeState(registry: Registry): (reading: Reading) => void {
  const gauge = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const open = gauge('vps_operations_open', 'Orders that are neither settled nor refused', 'state');
  const oldest = gauge(
    'vps_operations_oldest_unconfirmed_seconds',
    'How long ago the oldest unconfirmed order was placed, in seconds; 0 if there is none',
  );
  const unsaved = gauge('vps_passwords_unsaved', 'Stored root passwords');
  const unopened = gauge('vps_passwords_unopened', 'Stored root passwords that their creators have not seen');
  const due = gauge('vps_jobs_due', 'Jobs that are due and that no process is running', 'kind');
  const failing = gauge('vps_jobs_failing', 'Jobs that failed and will be retried', 'kind');
  const taken = gauge('vps_limiter_taken', 'Requests of the last minute that count against the limit of 300');
  const waiting = gauge('vps_limiter_waiting', 'Requests waiting for the limit of 300 a minute');
  const ready = gauge('vps_ready', 'Whether /readyz says ok');
  const connected = gauge('vps_slack_connected', 'Whether requests from Slack can reach this process');
  return ({ counts, budget, isReady, isConnected, now }) => {
    for (const [state, count] of Object.entries(counts.operations)) open.set({ state }, count);
    const { oldestUnconfirmedAt: oldestAt = now } = counts;
    oldest.set(Math.max(0, now - oldestAt) / 1000);
    unsaved.set(counts.passwords.unsaved);
    unopened.set(counts.passwords.unopened);
    for (const each of [due, failing]) each.reset();
    for (const job of counts.jobs) {
      due.set({ kind: job.kind }, job.due);
      failing.set({ kind: job.kind }, job.failing);
    }
    taken.set(budget.taken);
    waiting.set(budget.waiting);
    ready.set(Number(isReady));
    connected.set(Number(isConnected));
  };
}
