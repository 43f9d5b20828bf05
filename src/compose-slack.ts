import { install } from './app/installations/install.ts';
import { createInstalledWorkspaces } from './app/installations/installed-workspaces.ts';
import type { InstallationPorts } from './app/installations/ports.ts';
import { noteRevocation, watchTokens } from './app/installations/watch-tokens.ts';
import type { Locks } from './app/locks.ts';
import type { Store } from './app/ports.ts';
import type { Config } from './config.ts';
import { describeDefect } from './domain/errors.ts';
import type { Installation } from './domain/installation.ts';
import type { Secret } from './domain/secret.ts';
import type { Log } from './log.ts';
import { createSlack, type Slack, type SlackOptions } from './slack/create-slack.ts';
import { createInstalledSource } from './slack/transport/installed-source.ts';
import { createInstaller, type Installer } from './slack/transport/installer.ts';
import { createTokenService } from './slack/transport/oauth-api.ts';
import { createSingleWorkspace } from './slack/transport/single-workspace.ts';
import { type AbilityWatch, createSlackAbilities } from './slack/transport/slack-abilities.ts';
import { createSlackConnections, type SlackConnections } from './slack/transport/slack-api.ts';
import { createSlackClients, type TokenSource } from './slack/transport/slack-clients.ts';
import type { System } from './system.ts';
import type { Vault } from './vault.ts';

interface SlackParts
  extends Pick<
    Store,
    | 'workspaces'
    | 'replyUrls'
    | 'outcomeThreads'
    | 'followedActs'
    | 'actMessages'
    | 'homes'
    | 'apiKeys'
    | 'installationStore'
  > {
  readonly locks: Locks;
  readonly system: System;
  readonly log: Log;
  readonly vault: Vault;
}

/** Where the tokens come from, and what goes with that. */
interface Source extends TokenSource, Pick<SlackOptions, 'admit' | 'onRevocation'> {
  /** Calls this for each install. Absent where there are none. */
  onInstall?(greet: (installation: Installation) => void): void;
  /** Starts asking Slack what it has to say before anything is served. */
  connect(): Promise<void>;
  /** What keeps the app from working anywhere, in a sentence each. */
  faults(): readonly string[];
  watch: NonNullable<Parameters<typeof createSlackClients>[2]>;
  readonly installer?: Installer | undefined;
  readonly watchTokens?: (() => Promise<void>) | undefined;
}

export interface OpenSlack extends Slack {
  readonly connections: SlackConnections;
  readonly source: Source;
}

/** Slack's side: for the one workspace that the token in the settings is for, or for those that install the app. */
export function openSlack(config: Config, parts: SlackParts, signal: AbortSignal): OpenSlack {
  const { workspaces, replyUrls, outcomeThreads, followedActs, actMessages, homes } = parts;
  const { system, log } = parts;
  const connections = createSlackConnections({ apiUrl: config.SLACK_API_URL, log, system });
  const abilities = createSlackAbilities(system);
  const { SLACK_BOT_TOKEN: botToken } = config;
  const source: Source = botToken
    ? openSingleWorkspace(botToken, parts, connections, abilities, signal)
    : openInstalledWorkspaces(config, parts, connections, abilities);
  const slack = createSlack({
    clients: createSlackClients(connections, source, source.watch),
    connections,
    abilities,
    workspaces,
    replyUrls,
    outcomeThreads,
    followedActs,
    actMessages,
    homes,
    system,
    log,
    currency: config.HOSTING_CURRENCY,
    accountUrl: config.HOSTING_ACCOUNT_URL,
    publicUrl: config.PUBLIC_URL,
    slackApiUrl: config.SLACK_API_URL,
    admit: source.admit,
    onRevocation: source.onRevocation,
  });
  source.onInstall?.((installation) => {
    greet(installation, slack, parts).catch((error: unknown) =>
      log.error('the user who installed the app could not be greeted', describeDefect(error)),
    );
  });
  return { ...slack, connections, source };
}

/** Shows the user who installed the app what to do next, unless that is done. An organization is no workspace to begin in. */
async function greet(
  { id, isOrg, installedBy }: Installation,
  slack: Pick<Slack, 'greetInstaller'>,
  { apiKeys }: Pick<SlackParts, 'apiKeys'>,
): Promise<void> {
  if (isOrg || (await apiKeys.listWorkspaces()).includes(id)) return;
  await slack.greetInstaller(id, installedBy);
}

function openSingleWorkspace(
  botToken: Secret<string>,
  { workspaces, system, log }: SlackParts,
  connections: SlackConnections,
  abilities: AbilityWatch,
  signal: AbortSignal,
): Source {
  const parts = { connections, botToken, workspaces, abilities, system, log, signal };
  return createSingleWorkspace(parts);
}

/** No calls at the start: a workspace that is not used costs nothing. */
function openInstalledWorkspaces(
  config: Config,
  parts: SlackParts,
  connections: SlackConnections,
  abilities: AbilityWatch,
): Source {
  const { SLACK_CLIENT_ID: clientId, SLACK_CLIENT_SECRET: clientSecret, PUBLIC_URL: publicUrl } = config;
  // `parseConfig` has seen to it.
  if (!clientId || !clientSecret || !publicUrl) throw new Error('the settings for OAuth are incomplete');
  const client = { clientId, clientSecret };
  const ports: InstallationPorts = {
    ...parts,
    tokenService: createTokenService(connections, client, parts.system),
    allowedWorkspaces: config.ALLOWED_WORKSPACES,
  };
  let greetInstaller: (installation: Installation) => void = () => undefined;
  return {
    ...createInstalledSource(createInstalledWorkspaces(ports), abilities, parts.log),
    onInstall: (greeting) => {
      greetInstaller = greeting;
    },
    connect: async () => undefined,
    faults: () => [],
    onRevocation: ({ ids, at }) => noteRevocation(ids, at, ports),
    watchTokens: () => watchTokens(ports),
    installer: createInstaller({
      ...client,
      apiUrl: config.SLACK_API_URL,
      publicUrl,
      vault: parts.vault,
      connections,
      install: async (installation) => {
        const outcome = await install(installation, ports);
        if (outcome.kind === 'installed') greetInstaller(outcome.installation);
        return outcome;
      },
      system: parts.system,
      log: parts.log,
    }),
  };
}
