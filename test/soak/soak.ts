import type { RequestEntry } from '../../src/sandbox/hosting/journal.ts';
import { type Confirmation, observe, type Shown } from '../support/invariants.ts';
import type { LocalSlack } from '../support/slack/local-slack.ts';
import {
  countCharges,
  countMostInAMinute,
  type Evidence,
  endLeases,
  findStored,
  findViolations,
  outcomesTold,
  readGranted,
  readOrders,
  settle,
  waitUntilReady,
  watchTakeovers,
} from './invariants.ts';
import { load, type Struck, strike } from './load.ts';
import { type SoakTeam, startSoakTeam } from './soak-team.ts';

interface SoakOptions {
  readonly seed: number;
  /** How long users act and misfortunes strike. */
  readonly loadMs: number;
  /** The leases of dead processes end by themselves; otherwise, at the end, at once. */
  readonly isLong: boolean;
  /** Called with everything that the processes wrote. */
  readonly onEnd?: (output: string) => void;
}

interface SoakResult {
  /** In sentences; empty if all invariants hold. */
  readonly violations: readonly string[];
  readonly figures: string;
  /** Of the processes, which were stopped in order at the end. */
  readonly exitCodes: readonly (number | null)[];
}

const SERVERS = 21;

const SHORT_SETTLE_MS = 60_000;

/** A lease of a minute, a doubt of a minute, and time to look. */
const LONG_SETTLE_MS = 240_000;

/** Runs three processes under load and misfortunes, and judges them by what the hosting service and Slack have recorded. */
export async function runSoak({ seed, loadMs, isLong, onEnd }: SoakOptions): Promise<SoakResult> {
  await using team = await startSoakTeam(seed);
  team.hosting.seedServers(team.account, SERVERS, 'old');
  const takeovers = watchTakeovers(team);
  const untilMs = Date.now() + loadMs;
  const [struck] = await Promise.all([strike(team, { untilMs, isLong }), load(team, { untilMs, isLong })]);
  await waitUntilReady(team, 3);
  if (!isLong) await endLeases(team);
  const left = await settle(team, isLong ? LONG_SETTLE_MS : SHORT_SETTLE_MS);
  const takeoversMs = await takeovers.stop();
  const exitCodes = await team.processes.stopAll();
  const evidence = { team, stored: await readOrders(team), grantedTo: await readGranted(team), left };
  const violations = await findViolations(evidence);
  onEnd?.(team.processes.output());
  return { violations, figures: describeRun(evidence, struck, takeoversMs), exitCodes };
}

/** What a soak has to say of itself, one line each. */
function describeRun(evidence: Evidence, struck: Struck, takeoversMs: readonly number[]): string {
  const { team, stored } = evidence;
  const { recorded, hosting, account, balancer, slack, processes } = team;
  const states = countBy(
    stored.map(({ kind, state, reason }) => [kind, state, reason].filter(Boolean).join(' ')),
  );
  const presses = recorded.orders.reduce((sum, { presses: one }) => sum + one, 0);
  const kept = hosting.charges(account).length - hosting.refunds(account).length;
  const told = countBy(recorded.orders.flatMap((order) => [...outcomesTold(evidence, order)]));
  const untaken = recorded.orders.filter((order) => !order.isTaken);
  const acks = slack.deliveries().map(({ tookMs }) => tookMs);
  return [
    `ran ${Math.round((Date.now() - team.startedAtMs) / 1000)} s; ${list(countBy([...recorded.acts].flatMap(([name, times]) => Array<string>(times).fill(name))))}`,
    `faults: ${list(struck)}`,
    `requests of Slack: ${list(new Map(Object.entries(balancer.counts())))}; acks: half within ${rank(acks, 0.5)} ms, 99 of 100 within ${rank(acks, 0.99)} ms`,
    `orders: ${recorded.orders.length} confirmed by ${presses} presses, ${untaken.length} not acknowledged, of which ${untaken.filter((order) => findStored(evidence, order)).length} were stored and ${untaken.filter((order) => countCharges(evidence, order.label).kept > 0).length} paid`,
    `ledger: ${list(states)}; told: ${list(told)}`,
    `money: ${hosting.charges(account).length} charges, ${hosting.refunds(account).length} refunds, ${kept} kept`,
    `deletions: ${recorded.deletions.length}, requests ${hosting.requests({ operation: 'delete' }).length}; role requests: ${recorded.roleRequests.length}`,
    `hosting API: ${hosting.requests().length} requests, at most ${countMostInAMinute(team)} in a minute`,
    `orders taken over from other processes: ${takeoversMs.length}, at most ${Math.max(0, ...takeoversMs)} ms after their lease ended; processes killed: ${processes.killedAt.length}`,
    `log: ${list(countWarnings(processes.output()))}`,
  ]
    .map((line) => `soak: ${line}`)
    .join('\n');
}

/** What was logged as a warning or as an error, and how often. */
function countWarnings(output: string): Map<string, number> {
  const lines = output.split('\n').filter((line) => /"level":(?:"(?:warn|error)"|[45]0)/.test(line));
  const textOf = (line: string, name: string) => new RegExp(`"${name}":"([^"]*)"`).exec(line)?.[1] ?? '';
  return countBy(
    lines.map((line) => `${textOf(line, 'msg')} ${textOf(line, 'cause')} ${textOf(line, 'name')}`.trim()),
  );
}

function countBy(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function list(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
}

function rank(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** A create that a user confirmed. Every label is ordered once. */
export interface Order {
  readonly label: string;
  readonly userId: string;
  readonly pressedAtMs: number;
  presses: number;
  /** The app said in its ack that the order was taken. */
  isTaken: boolean;
}

/** A month of one server that several users renewed at once. */
interface Renewal {
  readonly serverId: number;
  readonly label: string;
  readonly userIds: readonly string[];
  readonly pressedAtMs: number;
  /** Those who read that their own press was taken. */
  readonly takenFor: Set<string>;
}

/** A deletion that a user requested and others approved. */
interface Deletion {
  readonly serverId: number;
  readonly label: string;
  readonly requesterId: string;
  isTaken: boolean;
  approvals: number;
}

/** A role that a user asked for and an owner granted. */
interface RoleRequest {
  readonly userId: string;
  isTaken: boolean;
  answers: number;
}

/** All that the users did, and all that Slack showed them. */
export interface Recorded {
  readonly shown: readonly Shown[];
  readonly confirmations: ReadonlyMap<string, Confirmation>;
  readonly orders: Order[];
  readonly renewals: Renewal[];
  readonly deletions: Deletion[];
  readonly roleRequests: RoleRequest[];
  /** Servers named in reboots that were sent, once for each. */
  reboots: number;
  /** How many labels were made up. */
  labels: number;
  readonly acts: Map<string, number>;
  /** What was visible to this user: their ephemeral messages, direct messages and modals. */
  toldTo(userId: string): readonly Shown[];
}

/** Each user's conversation with the app. */
export function directChannelOf(userId: string): string {
  return `D${userId.slice(1)}`;
}

/** Records from now on what the app shows, and what users confirm. */
export function startRecord(slack: LocalSlack): Recorded {
  const shown: Shown[] = [];
  const confirmations = new Map<string, Confirmation>();
  observe(slack, { shown, confirmations });
  return {
    shown,
    confirmations,
    orders: [],
    renewals: [],
    deletions: [],
    roleRequests: [],
    reboots: 0,
    labels: 0,
    acts: new Map(),
    toldTo: (userId) =>
      shown.filter(({ to, channel }) => to === userId || channel === directChannelOf(userId)),
  };
}

/** How long an answer may take from the socket into the database, or into a file beside it. */
const STORING_MS = 3000;

/**
 * Tells whether the answer to a create may have got lost: with a process that was killed right then, or since it came after the
 * app had given it up.
 */
export function findLosses({ processes }: SoakTeam): (request: RequestEntry) => boolean {
  const givenUpAt = listGivenUp(processes.output());
  return (request) => wasKilledOver(request, processes) || givenUpAt.some(during(request));
}

/** When the app gave creates up that had no answer in time, in epoch milliseconds. The creates of an account follow each other. */
function listGivenUp(log: string): readonly number[] {
  return log.split('\n').flatMap((line) => {
    const isGivenUp = line.includes('"operation":"create_server"') && line.includes('"cause":"timeout"');
    return isGivenUp ? [Date.parse((JSON.parse(line) as { time: string }).time)] : [];
  });
}

/** From its arrival to its answer, which it then was too late for. */
function during({ realAtMs, durationMs = 0 }: RequestEntry): (at: number) => boolean {
  return (at) => at >= realAtMs && at <= realAtMs + durationMs;
}

function wasKilledOver({ realAtMs, durationMs = 0 }: RequestEntry, { killedAt }: SoakTeam['processes']) {
  return killedAt.some((at) => at >= realAtMs && at <= realAtMs + durationMs + STORING_MS);
}
