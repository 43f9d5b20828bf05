import { ApiError } from './errors.ts';

/** An element of the GET /servers list (docs/hosting-api.md 2). */
export interface WireServer {
  readonly id: number;
  readonly label: string;
  readonly state: string;
  readonly ipv4: string;
  readonly paid_until: string;
}

export type PowerAction = 'start' | 'stop' | 'reboot';
export type ServerState = 'creating' | 'running' | 'stopped' | 'rebooting' | 'expired';

/** A server as the service keeps it; its state follows from the time and is never stored. */
export interface ServerRecord {
  readonly id: number;
  readonly label: string;
  readonly plan: string;
  readonly ipv4: string;
  power: 'running' | 'stopped';
  /** What keeps the server busy until then, after which it is `power`. */
  busy: { readonly state: 'creating' | 'rebooting'; readonly untilMs: number } | undefined;
  paidUntilMs: number;
}

// Our invention: what happens when the paid month ends is an open question (docs/hosting-api.md 3.11).
const KEPT_AFTER_EXPIRY_MS = 7 * 24 * 60 * 60 * 1000;

const ALLOWED_IN: Record<PowerAction, ServerState> = { start: 'stopped', stop: 'running', reboot: 'running' };

/** The state at a moment. `expired`, from `paid until` on, is our invention: it refuses power actions, not renewal. */
export function stateAt(server: ServerRecord, nowMs: number): ServerState {
  if (nowMs >= server.paidUntilMs) return 'expired';
  if (server.busy && nowMs < server.busy.untilMs) return server.busy.state;
  return server.power;
}

/** Whether the server is permanently gone: our invention too, seven days after `paid until`. */
export function isGone(server: ServerRecord, nowMs: number): boolean {
  return nowMs >= server.paidUntilMs + KEPT_AFTER_EXPIRY_MS;
}

/** The moments, epoch milliseconds, at which the server becomes another by the passing of time. */
export function momentsOf({ busy, paidUntilMs }: ServerRecord): number[] {
  return [...(busy ? [busy.untilMs] : []), paidUntilMs, paidUntilMs + KEPT_AFTER_EXPIRY_MS];
}

/** Carries out a power action (docs/hosting-api.md 3). Costs nothing. @throws ApiError wrong_state */
export function applyPower(server: ServerRecord, action: PowerAction, nowMs: number, rebootMs: number): void {
  if (stateAt(server, nowMs) !== ALLOWED_IN[action]) throw new ApiError('wrong_state');
  server.power = action === 'stop' ? 'stopped' : 'running';
  server.busy = action === 'reboot' ? { state: 'rebooting', untilMs: nowMs + rebootMs } : undefined;
}

/** The server as the API shows it. */
export function toWire(server: ServerRecord, nowMs: number): WireServer {
  return {
    id: server.id,
    label: server.label,
    state: stateAt(server, nowMs),
    ipv4: server.ipv4,
    paid_until: new Date(server.paidUntilMs).toISOString(),
  };
}

/** An address from 198.18.0.0/15, the block set apart for tests, so that no sandbox server points at a real one. */
export function ipv4Of(id: number): string {
  return `198.${18 + (Math.floor(id / 65_536) % 2)}.${Math.floor(id / 256) % 256}.${id % 256}`;
}
