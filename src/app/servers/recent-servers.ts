import type { ServerId } from '../../domain/ids.ts';
import { compareServers, type Server } from '../../domain/server.ts';
import type { UseCaseContext } from '../authorize/use-case.ts';

/** How far back the audit is read: a user's last servers are among their last acts. */
const LOOK_BACK = 200;

type Reading = Pick<UseCaseContext, 'actor' | 'app'>;

/** The servers that the actor did something to with this app, the latest first. */
export async function listRecentIds({ actor, app }: Reading): Promise<readonly ServerId[]> {
  const { workspaceId, userId: actorId } = actor;
  const entries = await app.audit.list({ workspaceId, actorId, limit: LOOK_BACK });
  const used = entries.filter(({ outcome }) => outcome !== 'denied');
  return [...new Set(used.flatMap(({ serverId }) => (serverId === undefined ? [] : [serverId])))];
}

/** Sorts servers for a menu: recently used first, the others by label. */
export function sortRecentFirst(servers: readonly Server[], recent: readonly ServerId[]): readonly Server[] {
  return putRecentFirst(servers.toSorted(compareServers), recent);
}

/** Moves the recently used ones to the front; the others stay in their order. */
export function putRecentFirst(sorted: readonly Server[], recent: readonly ServerId[]): readonly Server[] {
  const places = new Map(recent.map((id, place) => [id, place]));
  const placeOf = ({ id }: Server) => places.get(id) ?? places.size;
  const used = sorted.filter(({ id }) => places.has(id)).sort((a, b) => placeOf(a) - placeOf(b));
  return [...used, ...sorted.filter(({ id }) => !places.has(id))];
}
