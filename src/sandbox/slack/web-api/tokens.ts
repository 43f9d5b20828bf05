import { answerAccess } from '../oauth/access.ts';
import type { IssuedToken } from '../oauth/oauth.ts';
import { worldsOf } from '../oauth/places.ts';
import { sendUninstalled } from '../oauth/uninstall.ts';
import type { Json } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';
import type { World } from '../world.ts';

/** The methods that are about tokens; undefined for any other method. */
export function answerTokenMethod(
  method: string,
  worlds: readonly World[],
  args: Json,
  authorization: string,
  issued: IssuedToken | undefined,
): Json | undefined {
  if (method === 'oauth.v2.access') return answerAccess(worlds, args, authorization);
  if (method === 'auth.revoke') return revoke(worlds, getIssued(issued));
  if (method === 'auth.teams.list') return listTeams(worlds, getIssued(issued));
  return undefined;
}

/** @throws WebApiError not_allowed_token_type for the token that the local Slack was started with */
function getIssued(issued: IssuedToken | undefined): IssuedToken {
  if (!issued) throw new WebApiError('not_allowed_token_type');
  return issued;
}

/** The last token of an app takes the app with it. */
function revoke(worlds: readonly World[], issued: IssuedToken): Json {
  issued.revoked = 'token_revoked';
  const [world] = worldsOf(worlds, issued);
  if (world && world.oauth.listActive(issued.place).length === 0) void sendUninstalled(world, true);
  return { revoked: true };
}

/** The workspaces that a token is for, all on one page. */
function listTeams(worlds: readonly World[], issued: IssuedToken): Json {
  const teams = worldsOf(worlds, issued).map(({ team: { id, name } }) => ({ id, name }));
  return { teams, response_metadata: { next_cursor: '' } };
}
