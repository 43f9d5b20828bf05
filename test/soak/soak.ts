import { strike } from './faults.ts';
import { describeRun } from './figures.ts';
import { findViolations } from './invariants.ts';
import { load } from './load.ts';
import { startSoakTeam } from './soak-team.ts';
import { endLeases, readGranted, readOrders, settle, waitUntilReady, watchTakeovers } from './stored.ts';

export interface SoakOptions {
  readonly seed: number;
  /** How long users act and misfortunes strike. */
  readonly loadMs: number;
  /** The leases of dead processes end by themselves; otherwise, at the end, at once. */
  readonly isLong: boolean;
  /** Called with everything that the processes wrote. */
  readonly onEnd?: (output: string) => void;
}

export interface SoakResult {
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
