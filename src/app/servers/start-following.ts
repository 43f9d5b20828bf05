import { describeDefect } from '../../domain/errors.ts';
import type { FollowedServer } from '../../domain/followed-act.ts';
import type { ServerId } from '../../domain/ids.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { AppContext } from '../ports.ts';
import type { StartedAct } from './ports.ts';

/** As long as it can take to post the announcement; then the actor gets a message, since the process that acted must have died. */
export const PLACE_WITHIN_MS = 2 * MINUTE_MS;
/** For when the place of the message is already known. */
const FIRST_LOOK_MS = 2000;

/** Follows a server that something was done to. False, and never an error, where that can't be stored: the act was done. */
export async function startFollowing(
  act: StartedAct,
  server: FollowedServer,
  { system, log, followedActs }: AppContext,
  waitMs = FIRST_LOOK_MS,
): Promise<boolean> {
  const now = system.now();
  try {
    await followedActs.add(act, server, { now, dueAt: now + waitMs });
    return true;
  } catch (error) {
    log.warn('a server can’t be followed', { serverId: server.serverId, ...describeDefect(error) });
    return false;
  }
}

/** The same for an action that has settled immediately: what is followed of earlier acts on the server ends. */
export async function supersedeEarlier(
  act: StartedAct,
  serverId: ServerId,
  { log, followedActs }: AppContext,
): Promise<void> {
  await followedActs.supersede(act, serverId).catch((error: unknown) => {
    log.warn('an earlier act could not be superseded', { serverId, ...describeDefect(error) });
  });
}
