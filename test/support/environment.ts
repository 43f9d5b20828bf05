import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parseConfig } from '../../src/config.ts';
import type { Hosting } from '../../src/sandbox/hosting/start.ts';
import { readOwnManifest } from '../../src/sandbox/slack/manifest.ts';
import { USERS } from '../../src/sandbox/slack/workspace.ts';
import type { LocalSlack } from './slack/local-slack.ts';

export const SIGNING_SECRET = 'a-signing-secret-of-the-tests';

export const BOT_TOKEN = 'xoxb-a-bot-token-of-the-tests';

export const APP_TOKEN = 'xapp-an-app-token-of-the-tests';

const METRICS_TOKEN = 'a-metrics-token-of-the-tests';

export const ENCRYPTION_KEY = `k1:${makeKey('team')}`;

export const SCOPES = readOwnManifest().scopes;

/** How the local Slack and the app talk: over signed HTTP, or over WebSockets that the app opens. */
export type SlackMode = 'http' | 'socket';

/** `SLACK_MODE=socket` runs every test of a whole team in Socket Mode. */
export const SLACK_MODE: SlackMode = process.env.SLACK_MODE === 'socket' ? 'socket' : 'http';

/** Both, for the stories that `npm test` tells in either. */
export const MODES: readonly SlackMode[] = SLACK_MODE === 'socket' ? ['socket'] : ['http', 'socket'];

/** What the local Slack is told of an app in this mode. */
export function installedApp(mode: SlackMode = SLACK_MODE) {
  return {
    signingSecret: SIGNING_SECRET,
    botToken: BOT_TOKEN,
    appToken: APP_TOKEN,
    scopes: SCOPES,
    manifest: readOwnManifest(mode),
  };
}

/** The environment of an app that works with these two. */
export function environmentOf(
  slack: LocalSlack,
  hosting: Hosting,
  folder: string,
  settings: Readonly<Record<string, string | undefined>> = {},
): Record<string, string> {
  return {
    HOSTING_BASE_URL: hosting.baseUrl,
    HOSTING_TIMEOUT_MS: '10000',
    ...(slack.app.isSocketMode ? { SLACK_APP_TOKEN: APP_TOKEN } : { SLACK_SIGNING_SECRET: SIGNING_SECRET }),
    SLACK_BOT_TOKEN: BOT_TOKEN,
    SLACK_API_URL: slack.apiUrl,
    PUBLIC_URL: 'http://127.0.0.1',
    ENCRYPTION_KEYS: ENCRYPTION_KEY,
    OWNERS: USERS.olga.id,
    DATABASE_URL: `sqlite:${join(folder, 'vps.sqlite')}`,
    METRICS_TOKEN,
    PORT: '0',
    ...settings,
  };
}

/** The numbers of an app with this environment. */
export async function readMetrics(appUrl: string): Promise<string> {
  const response = await fetch(`${appUrl}/metrics`, {
    headers: { authorization: `Bearer ${METRICS_TOKEN}` },
  });
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`);
  return response.text();
}

/**
 * Names every setting, by watching the app read an environment in which nothing is set. Leaves out the names under which secrets
 * may be in files (`ENCRYPTION_KEYS_FILE`): each belongs to a setting.
 */
export function listSettings(): readonly string[] {
  const read = new Set<string>();
  const watched = new Proxy<Record<string, string>>(
    {},
    {
      get: (_target, name) => {
        read.add(String(name));
        return undefined;
      },
    },
  );
  try {
    parseConfig(watched);
  } catch {
    // It throws, since required ones are missing.
  }
  return [...read].filter((name) => !name.endsWith('_FILE'));
}

/** Reads a file of variables as Node reads it at the start. */
export function parseEnvFile(text: string): Record<string, string> {
  return Object.fromEntries(Object.entries(parseEnv(text)).map(([name, value]) => [name, value ?? '']));
}

/**
 * An encryption key in base64, the same for the same name. It is computed, since the app refuses keys that are easy to
 * guess.
 */
export function makeKey(name: string): string {
  return createHash('sha256').update(`a key of the tests: ${name}`).digest('base64');
}
