import type { RequestEntry } from '../../src/sandbox/hosting/journal.ts';
import type { SoakTeam } from './soak-team.ts';

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
