import { Agent, request } from 'undici';
import { z } from 'zod';
import type { Config } from '../config.ts';
import type { Store } from '../context.ts';
import { listNamedOwners } from '../core/roles.ts';
import { SCOPES } from '../slack/refusals.ts';

export type Status = 'ok' | 'warning' | 'failed' | 'skipped';

interface Checkup {
  readonly config: Config;
  readonly store: Store | undefined;
  readonly configToken: string | undefined;
  /** Never printed. */
  readonly secrets: Set<string>;
  report(check: string, status: Status, text: string): void;
}

/** Asks Slack about the app. Only reads: nothing is posted, and no WebSocket is opened. */
export async function checkSlack(checkup: Checkup): Promise<void> {
  const { config, store, secrets, report } = checkup;
  if (config.SLACK_APP_TOKEN) await checkAppToken(checkup, config.SLACK_APP_TOKEN.reveal());
  const tokens = config.SLACK_BOT_TOKEN
    ? [{ name: 'Slack', token: config.SLACK_BOT_TOKEN.reveal(), isOrg: false }]
    : await listInstalled(store);
  if (tokens.length === 0)
    report('Slack', 'warning', `The app isn’t installed anywhere. Open ${config.PUBLIC_URL}/slack/install`);
  let appId = /^xapp-\d+-(A[A-Z0-9]+)-/.exec(config.SLACK_APP_TOKEN?.reveal() ?? '')?.[1];
  for (const { name, token, isOrg } of tokens) {
    secrets.add(token);
    appId = (await checkToken(checkup, name, token, isOrg)) ?? appId;
  }
  await checkManifest(checkup, appId);
}

async function listInstalled(store: Store | undefined) {
  const found = new Map<string, { name: string; token: string; isOrg: boolean }>();
  for (const { id } of (await store?.workspaces.list()) ?? []) {
    // One that can't be decrypted is reported with the encryption keys.
    const by = await store?.installationStore.findServing(id).catch(() => undefined);
    if (by) found.set(by.id, { name: `Slack ${by.id}`, token: by.tokens.bot.reveal(), isOrg: by.isOrg });
  }
  return [...found.values()];
}

/** Requests the address of a WebSocket (Socket Mode) without opening it, since the app may be running. */
async function checkAppToken({ config, secrets, report }: Checkup, token: string): Promise<void> {
  secrets.add(token);
  const answer = await callSlack(config, token, 'apps.connections.open');
  if (answer.isOk) return report('Socket Mode', 'ok', 'Slack offers a connection.');
  const text = answer.isSlacks
    ? `Slack refuses SLACK_APP_TOKEN (${answer.code}). Turn on Socket Mode, create an app-level token with the scope connections:write under Basic Information, and copy it into SLACK_APP_TOKEN; it starts with xapp-.`
    : answer.text;
  report('Socket Mode', 'failed', text);
}

const introduction = z.object({
  team: z.string().catch(''),
  team_id: z.string(),
  user: z.string().catch(''),
  bot_id: z.string().optional(),
  is_enterprise_install: z.boolean().catch(false),
});
const botFields = z.object({ bot: z.object({ app_id: z.string() }) });

async function checkToken(
  checkup: Checkup,
  name: string,
  token: string,
  isOrg: boolean,
): Promise<string | undefined> {
  const { config, report } = checkup;
  const refuse = (text: string) => {
    report(name, 'failed', text);
    return undefined;
  };
  const answer = await callSlack(config, token, 'auth.test');
  if (!answer.isOk) return refuse(answer.text);
  const app = introduction.safeParse(answer.body).data;
  if (!app?.bot_id) return refuse(`This isn’t a bot token. ${COPY_TOKEN}; it starts with xoxb-.`);
  if (app.is_enterprise_install && !isOrg)
    return refuse(
      'The token is for a whole organization, which SLACK_BOT_TOKEN doesn’t support. Install the app in one workspace, or set SLACK_CLIENT_ID instead.',
    );
  report(name, 'ok', `the token works in ${app.team} (${app.team_id}), as @${app.user}.`);
  checkScopes(checkup, name, answer.scopes);
  const mayAsk = answer.scopes?.includes('users:read') ?? true;
  await checkOwners(checkup, name, token, app.team_id, mayAsk);
  if (!mayAsk) return undefined;
  const bot = await callSlack(config, token, 'bots.info', { bot: app.bot_id });
  return bot.isOk ? botFields.safeParse(bot.body).data?.bot.app_id : undefined;
}

function checkScopes({ report }: Checkup, name: string, granted: readonly string[] | undefined): void {
  const check = `${name} scopes`;
  if (granted === undefined) {
    report(
      check,
      'warning',
      'Slack didn’t list the token’s scopes. Make sure that no proxy removes the header X-OAuth-Scopes.',
    );
    return;
  }
  const missing = Object.entries(SCOPES).filter(([scope]) => !granted.includes(scope));
  for (const [scope, { isRequired, lost }] of missing) {
    const text = `${scope} is missing, so ${lost}. ${isRequired ? '' : 'If you want that: '}${ADD_SCOPE}`;
    report(check, isRequired ? 'failed' : 'warning', text);
  }
  const others = granted.filter((scope) => scope !== '' && !Object.hasOwn(SCOPES, scope));
  if (others.length > 0)
    report(
      check,
      'warning',
      `The app also has ${others.join(', ')}, which it doesn’t use. Remove what the manifest doesn’t ask for, and reinstall the app.`,
    );
  if (missing.length + others.length === 0)
    report(check, 'ok', `all ${granted.length} are granted, and no others.`);
}

const userFields = z.object({
  user: z.object({ deleted: z.boolean().catch(false), is_bot: z.boolean().catch(false) }),
});

async function checkOwners(
  { config, report }: Checkup,
  name: string,
  token: string,
  workspaceId: string,
  mayAsk: boolean,
): Promise<void> {
  const check = `${name} owners`;
  const owners = listNamedOwners(config.OWNERS, workspaceId);
  if (owners.length === 0 && mayAsk)
    return report(check, 'ok', 'the workspace’s admins: OWNERS lists no one here.');
  if (owners.length === 0) return report(check, 'failed', 'There are none. Set OWNERS, or grant users:read.');
  if (!mayAsk) return report(check, 'skipped', 'needs the scope users:read.');
  let isGood = true;
  for (const id of owners) {
    const answer = await callSlack(config, token, 'users.info', { user: id });
    const user = answer.isOk ? userFields.safeParse(answer.body).data?.user : undefined;
    const fault = !answer.isOk
      ? answer.text
      : user?.deleted
        ? 'This user’s account is deactivated. Remove it from OWNERS.'
        : user?.is_bot
          ? 'This ID is a bot’s. Correct OWNERS.'
          : undefined;
    if (fault === undefined) continue;
    isGood = false;
    report(check, 'failed', `${id}: ${fault}`);
  }
  if (isGood) report(check, 'ok', `${owners.length} in OWNERS.`);
}

/** The events of manifest.yml. */
export const EVENTS: readonly string[] = [
  'app_mention',
  'message.im',
  'app_home_opened',
  'app_uninstalled',
  'tokens_revoked',
];

const manifestFields = z.object({
  manifest: z.object({
    features: z.object({
      app_home: z
        .object({
          home_tab_enabled: z.boolean().catch(false),
          messages_tab_enabled: z.boolean().catch(false),
          messages_tab_read_only_enabled: z.boolean().catch(false),
        })
        .optional(),
      slash_commands: z.array(z.object({ command: z.string(), url: z.string().optional() })).catch([]),
    }),
    settings: z.object({
      event_subscriptions: z
        .object({ request_url: z.string().optional(), bot_events: z.array(z.string()).catch([]) })
        .optional(),
      interactivity: z
        .object({ is_enabled: z.boolean().catch(false), request_url: z.string().optional() })
        .optional(),
      socket_mode_enabled: z.boolean().catch(false),
    }),
  }),
});

/** Compares the Slack app's own settings with what the app needs: a bot's token can't read them. */
async function checkManifest(
  { config, configToken, report }: Checkup,
  appId: string | undefined,
): Promise<void> {
  const check = 'Slack manifest';
  if (!configToken)
    return report(
      check,
      'skipped',
      'The bot token can’t read the settings of the app’s events, Home tab and Messages tab. Set SLACK_CONFIG_TOKEN to check them, or compare App Manifest in the app’s settings with manifest.yml.',
    );
  if (appId === undefined)
    return report(check, 'skipped', 'needs a token that works, and the scope users:read.');
  const answer = await callSlack(config, configToken, 'apps.manifest.export', { app_id: appId });
  if (!answer.isOk)
    return report(
      check,
      'failed',
      `${appId} can’t be read (${answer.code}). Generate SLACK_CONFIG_TOKEN again on api.slack.com/apps, as a user who manages the app; it lasts 12 hours.`,
    );
  const read = manifestFields.safeParse(answer.body).data?.manifest;
  if (!read)
    return report(check, 'warning', `Slack’s manifest of ${appId} can’t be read by this version of the app.`);
  const faults = findManifestFaults(read, config);
  for (const fault of faults) report(check, 'failed', fault);
  if (faults.length === 0)
    report(check, 'ok', 'events, Home tab, Messages tab, commands and addresses are right.');
}

function findManifestFaults(
  { features, settings }: z.output<typeof manifestFields>['manifest'],
  { SLACK_APP_TOKEN, PUBLIC_URL }: Config,
): readonly string[] {
  const { app_home: home, slash_commands: commands } = features;
  const { event_subscriptions: events, interactivity, socket_mode_enabled: isSocket } = settings;
  const missing = EVENTS.filter((event) => !events?.bot_events.includes(event));
  const command = commands.find((each) => each.command === '/vps');
  const address = `${PUBLIC_URL}/slack/events`;
  const wrong = [command?.url, events?.request_url, interactivity?.request_url].filter(
    (url) => !SLACK_APP_TOKEN && PUBLIC_URL !== undefined && url !== address,
  );
  return [
    ...(missing.length > 0
      ? [`Add ${missing.join(', ')} under Event Subscriptions, and reinstall the app.`]
      : []),
    ...(home?.home_tab_enabled ? [] : ['Turn on the Home tab under App Home.']),
    ...(home?.messages_tab_enabled && !home.messages_tab_read_only_enabled
      ? []
      : ['Turn on the Messages tab under App Home, and let users send messages from it.']),
    ...(interactivity?.is_enabled
      ? []
      : ['Turn on Interactivity & Shortcuts: no button or form works without it.']),
    ...(command ? [] : ['Add the command /vps under Slash Commands.']),
    ...(SLACK_APP_TOKEN && !isSocket ? ['Turn on Socket Mode, or leave SLACK_APP_TOKEN empty.'] : []),
    ...(!SLACK_APP_TOKEN && isSocket
      ? ['Socket Mode is on, so nothing comes over HTTP. Set SLACK_APP_TOKEN, or turn it off.']
      : []),
    ...(wrong.length > 0 ? [`Set the request URLs of commands, events and interactivity to ${address}`] : []),
  ];
}

type Answer =
  | { readonly isOk: true; readonly body: unknown; readonly scopes: readonly string[] | undefined }
  /** `isSlacks`: Slack itself refused, rather than something on the way. */
  | { readonly isOk: false; readonly isSlacks: boolean; readonly code: string; readonly text: string };

const slacksAnswer = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true) }),
  z.object({ ok: z.literal(false), error: z.string().regex(/^[\w.:-]{1,80}$/) }),
]);

/** Calls Slack's Web API. Never throws. The app's own client hides what has to be shown here: scopes, and a proxy's page. */
async function callSlack(
  { SLACK_API_URL }: Config,
  token: string,
  method: string,
  args: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const page = await fetchPage(`${SLACK_API_URL}${method}`, { token, args });
  if ('code' in page) return { isOk: false, isSlacks: false, code: page.code, text: UNREACHABLE };
  const answer = slacksAnswer.safeParse(readJson(page.text)).data;
  if (answer?.ok && page.status === 200)
    return { isOk: true, body: readJson(page.text), scopes: page.scopes };
  const code = answer?.ok === false ? answer.error : page.status === 429 ? 'ratelimited' : undefined;
  if (code === undefined)
    return { isOk: false, isSlacks: false, code: 'not_slack', text: notSlacks(page.status) };
  const unknown = `Slack refused ${method} (${code}). See https://docs.slack.dev/reference/methods/${method}`;
  return { isOk: false, isSlacks: true, code, text: FIXES[code] ?? unknown };
}

export interface Page {
  readonly status: number;
  readonly text: string;
  readonly scopes: readonly string[] | undefined;
  /** The server's time, in epoch milliseconds. */
  readonly date: number | undefined;
}

const TIMEOUT_MS = 20_000;

/** Follows no redirect, which could take the token elsewhere. Returns only an error's code: its text may repeat what was sent. */
export async function fetchPage(
  url: string,
  call?: { readonly token: string; readonly args: Readonly<Record<string, string>> },
): Promise<Page | { readonly code: string }> {
  const [headersTimeout, bodyTimeout] = [TIMEOUT_MS, TIMEOUT_MS];
  const dispatcher = new Agent({ connect: { timeout: TIMEOUT_MS }, headersTimeout, bodyTimeout });
  const type = 'application/x-www-form-urlencoded';
  try {
    const { statusCode, headers, body } = await request(url, {
      dispatcher,
      ...(call && {
        method: 'POST',
        headers: { authorization: `Bearer ${call.token}`, 'content-type': type },
        // Form-encoded, as Slack's own library does: some methods read no JSON.
        body: new URLSearchParams(call.args).toString(),
      }),
    });
    const { 'x-oauth-scopes': scopes, date } = headers;
    const at = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    return {
      status: statusCode,
      text: await body.text(),
      scopes: typeof scopes === 'string' ? scopes.split(',').map((scope) => scope.trim()) : undefined,
      date: Number.isNaN(at) ? undefined : at,
    };
  } catch (error) {
    return { code: z.object({ code: z.string() }).safeParse(error).data?.code ?? 'network' };
  } finally {
    await dispatcher.destroy();
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function notSlacks(status: number): string {
  return `The answer isn’t Slack’s (HTTP ${status}): a proxy or another site answered, or Slack has an outage. Connect this machine to Slack directly, and check SLACK_API_URL.`;
}

export const CERTIFICATE = 'If a proxy inspects TLS here, set NODE_EXTRA_CA_CERTS to the file with its CA.';
const UNREACHABLE = `Slack can’t be reached. Check SLACK_API_URL, this machine’s DNS, firewall and proxy, and that the token has no stray character. ${CERTIFICATE}`;
const ADD_SCOPE = 'Add it under OAuth & Permissions in the app’s settings, and reinstall the app.';
const COPY_TOKEN = 'Copy the Bot User OAuth Token from the app’s Install App page into SLACK_BOT_TOKEN';

/** What to do, by Slack's error code (docs.slack.dev, the pages of the methods). */
const FIXES: Readonly<Record<string, string>> = {
  invalid_auth: `Slack doesn’t accept the token. ${COPY_TOKEN}. If the app has a list of allowed IP addresses, add this machine’s.`,
  token_revoked: `The token was revoked. Install the app again, then: ${COPY_TOKEN}.`,
  token_expired: `The token has expired: token rotation is on, which SLACK_BOT_TOKEN doesn’t support. Create the app again from its manifest, then: ${COPY_TOKEN}.`,
  account_inactive: `The app was removed from the workspace, or the workspace was deleted. Install the app again, then: ${COPY_TOKEN}.`,
  not_allowed_token_type: `This isn’t a bot token. ${COPY_TOKEN}; it starts with xoxb-.`,
  user_not_found: 'No user here has this ID. Correct OWNERS.',
  missing_scope: `The app lacks a scope. ${ADD_SCOPE}`,
  ratelimited: 'Slack is rate-limiting the app. Try again in a minute.',
};
