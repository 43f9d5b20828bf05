import type { Delivery } from '../deliver.ts';
import { sendEvent } from '../events.ts';
import { APP } from '../workspace.ts';
import type { World } from '../world.ts';

/** Removes the app from a workspace, or from its organization: no token of it works from then on. */
export function revokeTokens(
  { oauth, team, grid }: World,
  why: 'token_revoked' | 'account_inactive',
): boolean {
  return oauth.revokeAll(grid?.isOrgInstall ? grid.id : team.id, why);
}

/** Sends the app the events of its removal, in Slack's order; resolves with the last one. */
export async function sendUninstalled(world: World, hadTokens: boolean): Promise<Delivery | undefined> {
  if (hadTokens)
    await sendEvent(world, { type: 'tokens_revoked', tokens: { oauth: [], bot: [APP.botUserId] } });
  return sendEvent(world, { type: 'app_uninstalled' });
}
