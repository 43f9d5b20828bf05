import type { RequestEntry } from '../../src/sandbox/hosting/journal.ts';
import type { Evidence } from './invariants.ts';
import type { SoakTeam } from './soak-team.ts';

/** How long an answer may take from the socket into the database, or into a file beside it. */
const STORING_MS = 3000;

/**
 * Only its creator saw a root password, and one that reached the app was shown. It may be lost with a request that a fault
 * struck, with a process that was killed right then, and with an answer that came after the app had given it up.
 */
export function findPasswordFaults({ team, stored }: Evidence): readonly string[] {
  const { hosting, recorded, processes } = team;
  const log = processes.output();
  const givenUpAt = listGivenUp(log);
  return hosting.requests({ operation: 'create', didWork: true }).flatMap((request) => {
    const { serverId, fault } = request;
    const password = serverId === undefined ? undefined : hosting.passwordOf(serverId);
    if (password === undefined) return [];
    const order = stored.find(({ server_id }) => Number(server_id) === serverId);
    const seen = recorded.shown.filter(({ written }) => contains(written, password));
    const isShown = seen.some(({ to }) => to === order?.actor_id);
    const mayBeLost =
      fault !== undefined || wasKilledOver(request, processes) || givenUpAt.some(during(request));
    return [
      seen.some((one) => one.to !== order?.actor_id || one.isModal) &&
        `the root password of ${serverId} was shown to others`,
      log.includes(password) && `the root password of ${serverId} is in a log`,
      !isShown &&
        !mayBeLost &&
        `the root password of ${serverId} was never shown to its creator: ${JSON.stringify({ order, request, givenUpAt, killedAt: processes.killedAt })}`,
    ].filter((words) => words !== false);
  });
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

function contains(written: string, password: string): boolean {
  return written.includes(JSON.stringify(password).slice(1, -1));
}
