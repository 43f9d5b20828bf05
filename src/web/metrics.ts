import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** What can be counted without naming anybody or anything: no ids, no labels of servers, no secrets. */
export interface Metrics {
  hostingCall(report: {
    operation: string;
    code?: string | undefined;
    durationMs: number;
    waitedMs: number;
  }): void;
  /** Asked when the numbers are read. */
  onRead(read: () => Promise<{ openOperations: number; undeliveredPasswords: number }>): void;
  text(): Promise<string>;
  readonly contentType: string;
}

/** Builds the numbers of `/metrics`, in Prometheus's text format. */
export function createMetrics(): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
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
  const open = new Gauge({
    name: 'vps_operations_open',
    help: 'Paid operations that are neither settled nor refused',
    registers,
  });
  const undelivered = new Gauge({
    name: 'vps_passwords_undelivered',
    help: 'Root passwords that Slack has not taken yet',
    registers,
  });
  let read = async () => ({ openOperations: 0, undeliveredPasswords: 0 });
  return {
    contentType: registry.contentType,
    hostingCall: ({ operation, code, durationMs, waitedMs }) => {
      calls.inc({ operation, outcome: code ?? 'ok' });
      durations.observe({ operation }, durationMs / 1000);
      waits.observe(waitedMs / 1000);
    },
    onRead: (reader) => {
      read = reader;
    },
    text: async () => {
      const { openOperations, undeliveredPasswords } = await read();
      open.set(openOperations);
      undelivered.set(undeliveredPasswords);
      return registry.metrics();
    },
  };
}
