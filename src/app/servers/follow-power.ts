import type { FollowedServer } from '../../domain/followed-act.ts';
import type { PowerAction, Server } from '../../domain/server.ts';
import { isWhereLeads } from '../../domain/server-state.ts';
import type { UseCaseContext } from '../authorize/use-case.ts';
import { PLACE_WITHIN_MS, startFollowing, supersedeEarlier } from './start-following.ts';

interface AcceptedPower {
  readonly server: Server;
  /** As the answer reports it. */
  readonly state?: string;
  readonly among: { readonly actId?: string | undefined } | undefined;
  /** Which API key the workspace had. */
  readonly keyGeneration: number;
}

/**
 * Follows a server as soon as the hosting API has accepted a power action. Undefined where there is nothing to wait for: a
 * start or a stop whose answer reports where it leads. Never throws: the action was carried out.
 */
export async function followPower(
  action: PowerAction,
  { server, state, among, keyGeneration }: AcceptedPower,
  { actor, app }: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<string | undefined> {
  const isThere = state !== undefined && isWhereLeads(action, { state });
  // A server that is still running right after its reboot was accepted may not have gone down yet.
  const isSettled = isThere && action !== 'reboot';
  const { workspaceId, userId: actorId, channelId } = actor;
  const id = among?.actId ?? app.system.newId();
  const act = { id, workspaceId, action, actorId, keyGeneration, channelId };
  if (isSettled && !among) {
    await supersedeEarlier(act, server.id, app);
    return undefined;
  }
  const followed: FollowedServer = {
    serverId: server.id,
    label: server.label,
    standing: isSettled ? 'there' : 'waiting',
    hasChanged: hasChanged(action, server, state),
    state,
  };
  return (await startFollowing(act, followed, app, PLACE_WITHIN_MS)) ? id : undefined;
}

/** A server that was not where the action leads has changed once it is there; a reboot leads to where it was. */
function hasChanged(action: PowerAction, before: Server, state: string | undefined): boolean {
  if (state !== undefined && !isWhereLeads(action, { state })) return true;
  return !isWhereLeads(action, before);
}
