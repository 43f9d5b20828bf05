import { WebClient } from '@slack/web-api';
import { z } from 'zod';
import type { RefreshOutcome, TokenService } from '../../app/installations/ports.ts';
import type { ServedWorkspace } from '../../domain/installation.ts';
import { Secret } from '../../domain/secret.ts';
import type { System } from '../../system.ts';
import { readRefusal } from './refusals.ts';
import type { SlackConnections } from './slack-api.ts';

/** How the app is known to Slack. */
export interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret: Secret<string>;
}

const renewed = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1),
  expires_in: z.number().positive(),
});

const teamPage = z.object({
  teams: z.array(z.object({ id: z.string(), name: z.string().catch('') })),
  response_metadata: z.object({ next_cursor: z.string().catch('') }).catch({ next_cursor: '' }),
});

/** Slack's methods that are about tokens rather than a workspace. */
export function createTokenService(
  connections: Pick<SlackConnections, 'clientOptions'>,
  client: OAuthClient,
  system: Pick<System, 'now'>,
): TokenService {
  const open = (token?: Secret<string>) => new WebClient(token?.reveal(), connections.clientOptions());
  return {
    test: async (token) => {
      try {
        await open(token).apiCall('auth.test');
        return 'works';
      } catch (error) {
        return GONE.includes(readRefusal(error).code) ? 'revoked' : 'unknown';
      }
    },
    refresh: (refreshToken) => refresh(open(), refreshToken, client, system),
    revoke: async (token) => {
      // Whatever comes of it, the token is stored nowhere.
      await open(token)
        .apiCall('auth.revoke')
        .catch(() => undefined);
    },
    listWorkspaces: (token) => listWorkspaces(open(token)).catch(() => undefined),
  };
}

/** Only these say that the token is gone. `invalid_auth` is also the answer to an address that the app's settings don't allow. */
const GONE = ['account_inactive', 'token_revoked'];

/** Any other error may be ours, such as a wrong client secret: then the refresh token is still good. */
const FINAL_ERRORS = ['invalid_refresh_token', 'token_revoked', 'token_expired', 'account_inactive'];

async function refresh(
  web: WebClient,
  refreshToken: Secret<string>,
  { clientId, clientSecret }: OAuthClient,
  system: Pick<System, 'now'>,
): Promise<RefreshOutcome> {
  try {
    const answer = await web.apiCall('oauth.v2.access', {
      client_id: clientId,
      client_secret: clientSecret.reveal(),
      grant_type: 'refresh_token',
      refresh_token: refreshToken.reveal(),
    });
    const { access_token, refresh_token, expires_in } = renewed.parse(answer);
    const rotation = {
      expiresAt: system.now() + expires_in * 1000,
      refreshToken: new Secret(refresh_token),
    };
    return { kind: 'renewed', tokens: { bot: new Secret(access_token), rotation } };
  } catch (error) {
    const { code } = readRefusal(error);
    return { kind: FINAL_ERRORS.includes(code) ? 'refused' : 'unknown', error: code };
  }
}

/** More pages than any organization has: a cursor that leads in a circle ends, too. */
const MOST_PAGES = 50;

async function listWorkspaces(web: WebClient): Promise<readonly ServedWorkspace[]> {
  const found: ServedWorkspace[] = [];
  let cursor = '';
  for (let page = 0; page < MOST_PAGES; page++) {
    const asked = { limit: 200, ...(cursor && { cursor }) };
    const { teams, response_metadata } = teamPage.parse(await web.apiCall('auth.teams.list', asked));
    found.push(...teams);
    cursor = response_metadata.next_cursor;
    if (cursor === '') break;
  }
  return found;
}
