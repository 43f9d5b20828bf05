import type { RequestEntry } from '../../src/sandbox/hosting/journal.ts';
import { USERS } from '../../src/sandbox/slack/workspace.ts';
import { type Confirmation, countBy, observe, type Shown } from '../support/invariants.ts';
import type { LocalSlack } from '../support/slack/local-slack.ts';
import {
  countMostInAMinute,
  type Evidence,
  endLeases,
  findViolations,
  readGranted,
  readOrders,
  settle,
} from './invariants.ts';
import { load, type Struck, strike, waitFor } from './load.ts';
import { listGrowth, watchSamples } from './samples.ts';
import { PROCESSES, type SoakTeam, startSoakTeam } from './soak-team.ts';

interface SoakOptions {
  readonly seed: number;
  /** How long users act and misfortunes strike. */
  readonly loadMs: number;
  /** The leases of dead processes end by themselves; otherwise, at the end, at once. */
  readonly isLong: boolean;
  /** Called with what the processes wrote since the last time. */
  readonly onOutput?: (output: string) => void;
  /** Called with figures of a long run while it lasts. */
  readonly say?: (words: string) => void;
}

interface SoakResult {
  /** In sentences; empty if all invariants hold. */
  readonly violations: readonly string[];
  readonly figures: string;
  /** Of the processes, which were stopped in order at the end. */
  readonly exitCodes: readonly (number | null)[];
}

const SERVERS = 21;
/** A long run is judged again and again, and forgets what was judged. */
const ROUND_MS = 10 * 60_000;
const SHORT_SETTLE_MS = 60_000;
/** A lease of a minute, a doubt of a minute, and time to look. */
const LONG_SETTLE_MS = 240_000;

/** Runs three processes under load and misfortunes, and judges them by what the hosting service and Slack have recorded. */
export async function runSoak({ seed, loadMs, isLong, onOutput, say }: SoakOptions): Promise<SoakResult> {
  await using team = await startSoakTeam(seed, isLong);
  team.hosting.seedServers(team.account, SERVERS, 'old');
  const violations = new Set<string>();
  const samples = watchSamples(team, (words) => say?.(`${words}; ${violations.size} violations`));
  const struck: Struck = new Map();
  const untilMs = Date.now() + loadMs;
  let exitCodes: readonly (number | null)[] | undefined;
  let judgedTo = 0;
  let figures = '';
  while (!exitCodes) {
    const endMs = Math.min(untilMs, Date.now() + ROUND_MS);
    await Promise.all([strike(team, { untilMs: endMs, struck }), load(team, endMs)]);
    await waitFor(() => team.processes.running().length === PROCESSES, 60_000);
    if (!isLong) await endLeases(team);
    const left = await settle(team, isLong ? LONG_SETTLE_MS : SHORT_SETTLE_MS);
    if (endMs === untilMs) exitCodes = await team.processes.stopAll();
    const log = team.processes.takeOutput();
    onOutput?.(log);
    const [stored, grantedTo] = [await readOrders(team), await readGranted(team)];
    const evidence: Evidence = { team, left, log, judgedTo, stored, grantedTo };
    for (const words of await findViolations(evidence)) violations.add(words);
    figures = describeRun(evidence, struck);
    if (!exitCodes) {
      say?.(figures);
      judgedTo = await clearUp(evidence);
    }
  }
  const taken = await samples.stop();
  if (!isLong) return { violations: [...violations], figures, exitCodes };
  const growth = listGrowth(taken);
  for (const { isFlat, words } of growth) if (!isFlat) violations.add(words);
  const table = [figures, ...growth.map(({ words }) => words)].join('\n');
  return { violations: [...violations], figures: table, exitCodes };
}

/**
 * Removes what the users left behind, so that hours of work don't have to hold it all: servers, guests and messages. What is not
 * confirmed yet may still be found. Returns the journal's last entry.
 */
async function clearUp({ team, stored }: Evidence): Promise<number> {
  const { hosting, account, slack, recorded, managers } = team;
  const open = stored.filter(({ state }) => state === 'unconfirmed');
  for (const { id, label } of hosting.listServers(account))
    if (!label.startsWith('old-') && !open.some(({ purchase }) => purchase.includes(`"${label}"`)))
      hosting.servers.remove(account, String(id));
  for (const userId of recorded.roleRequests) slack.admin.deactivate(userId);
  for (const user of [USERS.olga, USERS.otto, USERS.vera, ...managers]) slack.as(user).reloads();
  for (const { channel, ts, to, isModal, isNew } of recorded.shown)
    if (isNew && !isModal && to === undefined) slack.admin.deleteMessage(channel, ts);
  recorded.forget();
  return Math.max(
    0,
    ...[hosting.requests().at(-1), hosting.charges(account).at(-1)].map((last) => last?.id ?? 0),
  );
}

/** What a soak has to say of itself, one line each. */
function describeRun({ team, stored }: Evidence, struck: Struck): string {
  const { recorded, hosting, processes } = team;
  const states = countBy(stored, ({ kind, state, reason }) =>
    [kind, state, reason].filter(Boolean).join(' '),
  );
  return [
    `ran ${Math.round((Date.now() - team.startedAtMs) / 1000)} s; ${list(recorded.acts)}`,
    `faults: ${list(struck)}; processes killed: ${processes.killedAt.length}`,
    `ledger: ${list(states)}; ${hosting.charges().length} charges, ${hosting.refunds().length} refunds`,
    `hosting API: ${hosting.requests().length} requests, at most ${countMostInAMinute(team)} in a minute`,
  ]
    .map((line) => `soak: ${line}`)
    .join('\n');
}

function list(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
}

/** A create that a user confirmed. Every label is ordered once. */
interface Order {
  readonly label: string;
  readonly userId: string;
  /** The app said in its ack that the order was taken. */
  isTaken: boolean;
}

/** A month of one server that several users renewed at once. */
interface Renewal {
  readonly label: string;
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

/** Each user's conversation with the app. */
export function directChannelOf(userId: string): string {
  return `D${userId.slice(1)}`;
}

/** Records from now on what the app shows, and what users confirm. */
export function startRecord(slack: LocalSlack) {
  const shown: Shown[] = [];
  const confirmations = new Map<string, Confirmation>();
  const orders: Order[] = [];
  const renewals: Renewal[] = [];
  const deletions: Deletion[] = [];
  /** Who asked for a role. */
  const roleRequests: string[] = [];
  observe(slack, { shown, confirmations });
  return {
    shown,
    confirmations,
    orders,
    renewals,
    deletions,
    roleRequests,
    /** Servers named in reboots that were sent, once for each. */
    reboots: 0,
    /** How many labels and guests were made up. */
    labels: 0,
    acts: new Map<string, number>(),
    /** What was visible to this user: their ephemeral messages, direct messages and modals. */
    toldTo: (userId: string) =>
      shown.filter(({ to, channel }) => to === userId || channel === directChannelOf(userId)),
    /** Drops what was judged: a long run would fill the memory with it. */
    forget: () => {
      for (const list of [shown, orders, renewals, deletions, roleRequests]) list.length = 0;
      confirmations.clear();
    },
  };
}

/** How long an answer may take from the socket into the database, or into a file beside it. */
const STORING_MS = 3000;
/** How long a request may be on its way from a process into the journal. */
const ON_ITS_WAY_MS = 1000;

/**
 * Tells whether the answer to a create may have got lost: with a process that was killed right then, or since it came after the
 * app had given it up.
 */
export function findLosses({ processes }: SoakTeam, log: string): (request: RequestEntry) => boolean {
  const givenUpAt = listGivenUp(log);
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
  return killedAt.some((at) => at >= realAtMs - ON_ITS_WAY_MS && at <= realAtMs + durationMs + STORING_MS);
}
