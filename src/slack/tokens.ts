import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Installation,
  InstallProvider,
  type InstallURLOptions,
  InvalidStateError,
  type StateStore,
} from '@slack/oauth';
import { WebClient } from '@slack/web-api';
import { z } from 'zod';
import type { Workspaces } from '../account/workspaces.ts';
import { describeDefect } from '../core/errors.ts';
import type { WorkspaceId } from '../core/ids.ts';
import { Secret } from '../core/secret.ts';
import type { Vault } from '../db/vault.ts';
import type {
  InstallEnd,
  InstalledWorkspaces,
  InstallOutcome,
  NewInstallation,
  RefreshOutcome,
  ServedWorkspace,
  Suspicion,
  TokenService,
} from '../installations/installations.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import { quietLogger } from './bolt.ts';
import { isTokenRefused, MESSAGES_TAB, readRefusal, SCOPES, type SetupProblems } from './refusals.ts';
import type { SeenAnswer, SlackConnections } from './slack-api.ts';

interface Options extends OAuthClient {
  readonly apiUrl: string;
  readonly publicUrl: string;
  readonly vault: Vault;
  readonly connections: SlackConnections;
  readonly install: (installation: NewInstallation) => Promise<InstallOutcome>;
  readonly system: System;
  readonly log: Log;
}

/** How long a user has to press *Allow*. */
const STATE_SECONDS = 600;
const NONCE_BYTES = 24;

export type Installer = ReturnType<typeof createInstaller>;

/**
 * Installs the app through Slack's OAuth. Slack's library checks the state and exchanges the code; storing and showing is up to the
 * app.
 */
export function createInstaller(options: Options) {
  const { publicUrl, log } = options;
  const asked = { scopes: Object.keys(SCOPES), redirectUri: `${publicUrl}/slack/oauth_redirect` };
  const isTls = publicUrl.startsWith('https:');
  // With this prefix, browsers take the cookie from this host alone.
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
    /** Returns the address to send the browser to, and the cookie that binds the install to this browser. */
    begin: async (): Promise<{ readonly url: string; readonly cookie: string }> => {
      const state = await stateStore.generateStateParam();
      const url = await provider.generateInstallUrl(asked, true, state);
      // Lax: the browser comes back from Slack's site.
      const attributes = ['HttpOnly', 'SameSite=Lax', 'Path=/', `Max-Age=${STATE_SECONDS}`];
      const cookie = [`${stateCookieName}=${state}`, ...attributes, ...(isTls ? ['Secure'] : [])];
      return { url, cookie: cookie.join('; ') };
    },
    /** Handles the browser's return from Slack, and stores the install. Deletes the cookie; leaves the answer to the caller. */
    finish: (request: IncomingMessage, response: ServerResponse) =>
      finish(provider, request, response, options),
  };
}

/**
 * Creates the store of states, which stores nothing, since anyone may start installs: a state is a signed nonce with its expiry.
 * The library accepts a state only with the cookie that has the same one, and deletes that; Slack takes each code once.
 */
function createStateStore({ vault, system }: Options, asked: InstallURLOptions) {
  const PURPOSE = 'install state';
  return {
    generateStateParam: async () => {
      const text = `${system.newToken(NONCE_BYTES)}.${system.now() + STATE_SECONDS * 1000}`;
      return `${text}.${vault.sign(text, PURPOSE)}`;
    },
    verifyStateParam: async (_now, state) => {
      const [, text = '', expiresAt, signature = ''] = /^([\w-]+\.(\d+))\.(.+)$/.exec(state) ?? [];
      if (!isSigned(text, signature) || Number(expiresAt) <= system.now())
        throw new InvalidStateError('the state is forged or has expired');
      return asked;
    },
  } satisfies StateStore & { generateStateParam(): Promise<string> };

  function isSigned(text: string, signature: string): boolean {
    try {
      return vault.isSigned(signature, text, PURPOSE);
    } catch {
      return false; // the signature names a key that the ring doesn't have
    }
  }
}

/** A store that is never used, since `afterInstallation` stores. Without it, the library would use memory. */
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
      end = ENDS[error.code ?? ''] ?? { kind: 'refused', error: readRefusal(error).code };
    },
  });
  return end;
}

/** Reads an install; undefined if it has no bot token, without which the app can do nothing. */
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
    tokens: { bot: new Secret(bot.token), rotation },
  };
}

const ENDS: Readonly<Record<string, InstallEnd>> = {
  slack_oauth_installer_authorization_error: { kind: 'denied' },
  slack_oauth_missing_state: { kind: 'state_unusable' },
  slack_oauth_invalid_state: { kind: 'state_unusable' },
  slack_oauth_missing_code: { kind: 'refused', error: 'missing_code' },
};

interface OAuthClient {
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

/** Creates the calls of Slack's methods about tokens. None of them throws. */
export function createTokenService(
  connections: SlackConnections,
  client: OAuthClient,
  system: System,
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
      // A failure doesn't matter: the token is stored nowhere.
      await open(token)
        .apiCall('auth.revoke')
        .catch(() => undefined);
    },
    listWorkspaces: (token) => listWorkspaces(open(token)).catch(() => undefined),
  };
}

/** The codes that prove that a token is gone. `invalid_auth` doesn't: Slack also answers it to an address it doesn't allow. */
const GONE = ['account_inactive', 'token_revoked'];

/** The codes that prove that a refresh token is useless. After any other, such as for a wrong client secret, it may be good. */
const FINAL_ERRORS = ['invalid_refresh_token', 'token_revoked', 'token_expired', 'account_inactive'];

async function refresh(
  web: WebClient,
  refreshToken: Secret<string>,
  { clientId, clientSecret }: OAuthClient,
  system: System,
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

/** More pages than any organization has, so that cursors in a circle end, too. */
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

/** Learns from Slack's answers in installed workspaces, and has an installation checked if Slack refuses its token. */
export function watchInstalled(
  { suspect }: InstalledWorkspaces,
  setupProblems: SetupProblems,
  log: Log,
): (workspaceId: WorkspaceId, seen: SeenAnswer) => void {
  const check = (workspaceId: WorkspaceId, error: Suspicion) => {
    suspect(workspaceId, error).catch((cause: unknown) => {
      log.error('an installation could not be checked', describeDefect(cause));
    });
  };
  return (workspaceId, seen) => {
    setupProblems.watch(workspaceId, seen);
    if (isTokenRefused(seen.error)) check(workspaceId, 'token_refused');
    if (seen.error === 'team_access_not_granted') check(workspaceId, seen.error);
  };
}

/** A fault in `/readyz`, since cards and late outcomes can't be sent. */
const NO_MESSAGES_TAB =
  'Slack refuses direct messages (messages_tab_disabled): turn on the app’s Messages tab, or import manifest.yml again';
const WHOLE_ORGANIZATION =
  'SLACK_BOT_TOKEN is for a whole organization, and this app serves one workspace: install it in that workspace and set its token';
const RETRY_MS = 5000;
/** How often the token is tested, since Slack may not report that it was revoked. */
const LOOK_AGAIN_MS = 3 * 60_000;

/**
 * Creates the source for the one workspace of `SLACK_BOT_TOKEN`. Serves none before Slack has said which one that is. `connect` asks
 * it once, and starts to repeat that: until it answers, then every 3 minutes. `watch` learns from an answer of Slack, and tests the
 * token at once if Slack refuses it.
 */
export function createSingleWorkspace(options: {
  readonly open: SlackConnections['open'];
  readonly botToken: Secret<string>;
  readonly storeWorkspace: Workspaces['put'];
  readonly setupProblems: SetupProblems;
  readonly system: System;
  readonly log: Log;
  readonly signal: AbortSignal;
}) {
  const { botToken, setupProblems, system, log, signal } = options;
  const slack = options.open(async () => ({ token: botToken }));
  let served: WorkspaceId | undefined;
  let fault: string | undefined = 'The app hasn’t asked Slack yet which workspace it is in';
  const fail = (found: string): void => {
    fault = found;
    log.error(found);
  };
  const look = async (): Promise<void> => {
    const answer = await slack.whoAmI();
    if (answer.ok && answer.isOrgInstall) {
      served = undefined;
      return fail(WHOLE_ORGANIZATION);
    }
    if (answer.ok && answer.workspaceId !== '') {
      if (fault === undefined && answer.workspaceId === served) return;
      await options.storeWorkspace({ id: answer.workspaceId, name: answer.workspaceName });
      log.info('connected to Slack', { workspace: answer.workspaceId });
      served = answer.workspaceId;
      fault = undefined;
      return;
    }
    const reason = answer.ok ? 'no_team' : answer.error;
    if (isTokenRefused(reason))
      fail(
        `Slack rejected SLACK_BOT_TOKEN (${reason}). Copy the xoxb- token again from the app’s “Install App” page`,
      );
    // A known workspace is still served during an outage of Slack.
    else if (served === undefined) fail(`Slack can’t be reached (${reason})`);
  };
  let looking: Promise<void> | undefined;
  /** Looks, or waits for the look that is under way. An error, such as an unreachable database, is corrected by the next look. */
  const lookSafely = (): Promise<void> => {
    looking ??= look()
      .catch((error: unknown) => log.error('the workspace could not be looked up', describeDefect(error)))
      .finally(() => {
        looking = undefined;
      });
    return looking;
  };
  const keepLooking = async (): Promise<void> => {
    while (!signal.aborted) {
      await system.sleep(fault === undefined ? LOOK_AGAIN_MS : RETRY_MS, signal).catch(() => undefined);
      if (!signal.aborted) await lookSafely();
    }
  };
  return {
    isServed: async (workspaceId: WorkspaceId) => (served === undefined ? undefined : workspaceId === served),
    find: async (workspaceId: WorkspaceId) => (workspaceId === served ? { token: botToken } : undefined),
    connect: async (): Promise<void> => {
      await lookSafely();
      void keepLooking();
    },
    watch: (workspaceId: WorkspaceId, seen: SeenAnswer): void => {
      setupProblems.watch(workspaceId, seen);
      if (fault === undefined && isTokenRefused(seen.error)) void lookSafely();
    },
    /** Lists what keeps the app from working, a sentence each. */
    faults: (): readonly string[] => {
      const isUnwritable =
        served !== undefined && setupProblems.read(served).some(({ error }) => error === MESSAGES_TAB);
      return [...(fault === undefined ? [] : [fault]), ...(isUnwritable ? [NO_MESSAGES_TAB] : [])];
    },
  };
}
