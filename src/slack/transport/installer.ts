import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Installation,
  InstallProvider,
  type InstallURLOptions,
  InvalidStateError,
  type StateStore,
} from '@slack/oauth';
import type { InstallEnd, InstallOutcome } from '../../app/installations/install.ts';
import { describeDefect } from '../../domain/errors.ts';
import type { NewInstallation } from '../../domain/installation.ts';
import { Secret } from '../../domain/secret.ts';
import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import type { Vault } from '../../vault.ts';
import type { OAuthClient } from './oauth-api.ts';
import { quietLogger } from './quiet-logger.ts';
import { readRefusal } from './refusals.ts';
import type { SlackConnections } from './slack-api.ts';

/** Installs the app through Slack's OAuth. */
export interface Installer {
  /** Where to send the browser, and the cookie that binds the install to it. */
  begin(): Promise<{ readonly url: string; readonly cookie: string }>;
  /** Takes what Slack sent the browser back with. Deletes the cookie; answers nothing. */
  finish(request: IncomingMessage, response: ServerResponse): Promise<InstallEnd>;
}

interface Options extends OAuthClient {
  readonly apiUrl: string;
  readonly publicUrl: string;
  readonly vault: Pick<Vault, 'sign' | 'isSigned'>;
  readonly connections: Pick<SlackConnections, 'clientOptions'>;
  readonly install: (installation: NewInstallation) => Promise<InstallOutcome>;
  readonly system: Pick<System, 'now' | 'newToken'>;
  readonly log: Log;
}

/** The scopes of manifest.yml: without those that an admin may leave out, the app works in part (docs/slack.md). */
export const BOT_SCOPES = [
  'commands',
  'chat:write',
  'app_mentions:read',
  'im:history',
  'users:read',
  'usergroups:read',
  'channels:read',
  'groups:read',
] as const;

/** How long a user has to press Allow. */
const STATE_SECONDS = 600;
const NONCE_BYTES = 24;

/** Slack's library checks the state and exchanges the code; what it would store or show is ours. */
export function createInstaller(options: Options): Installer {
  const { publicUrl, log } = options;
  const asked = { scopes: [...BOT_SCOPES], redirectUri: `${publicUrl}/slack/oauth_redirect` };
  const isTls = publicUrl.startsWith('https:');
  // With this prefix, browsers take the cookie from this very host alone.
  const stateCookieName = isTls ? '__Host-vps-install' : 'vps-install';
  const stateStore = createStateStore(options, asked);
  const provider = new InstallProvider({
    clientId: options.clientId,
    clientSecret: options.clientSecret.reveal(),
    authorizationUrl: new URL('../oauth/v2/authorize', options.apiUrl).toString(),
    stateStore,
    stateCookieName,
    installationStore: NO_STORE,
    logger: quietLogger(log),
    clientOptions: options.connections.clientOptions(),
  });
  return {
    begin: async () => {
      const state = await stateStore.generateStateParam();
      const url = await provider.generateInstallUrl(asked, true, state);
      // Lax: the browser comes back from Slack's site.
      const attributes = ['HttpOnly', 'SameSite=Lax', 'Path=/', `Max-Age=${STATE_SECONDS}`];
      const cookie = [`${stateCookieName}=${state}`, ...attributes, ...(isTls ? ['Secure'] : [])];
      return { url, cookie: cookie.join('; ') };
    },
    finish: (request, response) => finish(provider, request, response, options),
  };
}

/**
 * A state is a nonce and its expiry, signed, and stored nowhere: anyone may begin installs. The library accepts it only beside the
 * cookie that has the same and deletes that cookie; Slack takes the code beside it once.
 */
function createStateStore({ vault, system }: Pick<Options, 'vault' | 'system'>, asked: InstallURLOptions) {
  const PURPOSE = 'install state';
  return {
    generateStateParam: async () => {
      const text = `${system.newToken(NONCE_BYTES)}.${system.now() + STATE_SECONDS * 1000}`;
      return `${text}.${vault.sign(text, PURPOSE)}`;
    },
    verifyStateParam: async (_now, state) => {
      const [, text = '', expiresAt, signature = ''] = /^([\w-]+\.(\d+))\.(.+)$/.exec(state) ?? [];
      if (!isSigned(text, signature) || Number(expiresAt) <= system.now())
        throw new InvalidStateError('the state was made up or has expired');
      return asked;
    },
  } satisfies StateStore & { generateStateParam(): Promise<string> };

  function isSigned(text: string, signature: string): boolean {
    try {
      return vault.isSigned(signature, text, PURPOSE);
    } catch {
      return false; // it names a key that the ring doesn't have
    }
  }
}

/** Never used: `afterInstallation` stores. The library's own stores are a memory and a folder. */
const NO_STORE = {
  storeInstallation: () => Promise.reject(new Error('stored elsewhere')),
  fetchInstallation: () => Promise.reject(new Error('stored elsewhere')),
};

async function finish(
  provider: InstallProvider,
  request: IncomingMessage,
  response: ServerResponse,
  { install, system, log }: Options,
): Promise<InstallEnd> {
  let end: InstallEnd = { kind: 'refused', error: 'no_answer' };
  await provider.handleCallback(request, response, {
    afterInstallation: async (installation) => {
      const given = readInstallation(installation, system.now());
      end = given
        ? await install(given).catch((error: unknown) => {
            log.error('an install could not be stored', describeDefect(error));
            return { kind: 'unsaved' } as const;
          })
        : { kind: 'refused', error: 'no_bot_token' };
      return false; // nothing for the library to store or to show
    },
    failureAsync: async (error) => {
      end = readFailure(error);
    },
  });
  return end;
}

/** Undefined for an install without a bot token, which the app could do nothing with. */
function readInstallation(
  { bot, team, enterprise, user, isEnterpriseInstall }: Installation,
  now: number,
): NewInstallation | undefined {
  const isOrg = isEnterpriseInstall === true;
  const place = isOrg ? enterprise : team;
  if (!bot || !place || place.id === '') return undefined;
  const { refreshToken, expiresAt } = bot;
  const rotation =
    refreshToken !== undefined && expiresAt !== undefined
      ? { expiresAt: expiresAt * 1000, refreshToken: new Secret(refreshToken) }
      : undefined;
  return {
    id: place.id,
    isOrg,
    enterpriseId: enterprise?.id,
    name: place.name ?? '',
    installedBy: user.id,
    installedAt: now,
    scopes: bot.scopes,
    tokens: { bot: new Secret(bot.token), rotation },
  };
}

const ENDS: Readonly<Record<string, InstallEnd>> = {
  slack_oauth_installer_authorization_error: { kind: 'denied' },
  slack_oauth_missing_state: { kind: 'state_unusable' },
  slack_oauth_invalid_state: { kind: 'state_unusable' },
  slack_oauth_missing_code: { kind: 'refused', error: 'missing_code' },
};

function readFailure(error: { readonly code?: string }): InstallEnd {
  return ENDS[error.code ?? ''] ?? { kind: 'refused', error: readRefusal(error).code };
}
