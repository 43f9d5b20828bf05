import type { Struck } from './faults.ts';
import { countCharges, countMostInAMinute, type Evidence, findStored, outcomesTold } from './invariants.ts';

/** What a soak has to say of itself, one line each. */
export function describeRun(evidence: Evidence, struck: Struck, takeoversMs: readonly number[]): string {
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
