import { isJson, textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';
import { APP } from '../workspace.ts';
import type { World } from '../world.ts';
import type { IssuedToken, OAuthApp } from './oauth.ts';
import { worldsOf } from './places.ts';

/**
 * `oauth.v2.access`: exchanges a code, or a refresh token, for a bot token.
 * @throws WebApiError invalid_client_id, bad_client_secret, invalid_grant_type, and those of the exchange
 */
export function answerAccess(worlds: readonly World[], args: Json, authorization: string): Json {
  const [{ oauth } = requireWorld()] = worlds;
  requireClient(oauth.app, args, authorization);
  const grantType = textIn(args, 'grant_type') || 'authorization_code';
  if (grantType === 'refresh_token')
    return describe(worlds, oauth.refresh(textIn(args, 'refresh_token')), false);
  if (grantType !== 'authorization_code') throw new WebApiError('invalid_grant_type');
  return describe(worlds, oauth.exchange(textIn(args, 'code'), textIn(args, 'redirect_uri')), true);
}

function requireWorld(): never {
  throw new Error('there is always a workspace');
}

/** In the fields, or as HTTP's Basic authorization. */
function requireClient(app: OAuthApp | undefined, args: Json, authorization: string): void {
  const encoded = /^Basic\s+(.+)$/.exec(authorization)?.[1] ?? '';
  const [basicId = '', basicSecret = ''] = Buffer.from(encoded, 'base64').toString().split(':');
  if (!app || (textIn(args, 'client_id') || basicId) !== app.clientId)
    throw new WebApiError('invalid_client_id');
  if ((textIn(args, 'client_secret') || basicSecret) !== app.clientSecret)
    throw new WebApiError('bad_client_secret');
}

function describe(worlds: readonly World[], issued: IssuedToken, isInstall: boolean): Json {
  const served = worldsOf(worlds, issued);
  // Methods look at what their own workspace was granted.
  for (const { app } of served) app.scopes = issued.scopes;
  const [first] = served;
  const grid = first?.grid;
  return {
    app_id: APP.id,
    ...(isInstall ? { authed_user: { id: issued.userId } } : {}),
    scope: issued.scopes.join(','),
    token_type: 'bot',
    access_token: issued.token,
    bot_user_id: APP.botUserId,
    ...(issued.refreshToken === undefined
      ? {}
      : { refresh_token: issued.refreshToken, expires_in: issued.lifetimeSeconds }),
    team: issued.isOrg ? null : { id: issued.place, name: first?.team.name },
    enterprise: isJson(grid) ? { id: grid.id, name: grid.name } : null,
    is_enterprise_install: issued.isOrg,
  };
}
