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
  report(check: string, status: Status, text: string): void;
}

/** Asks Slack about the app. Only reads: nothing is posted, and no WebSocket is opened. */
export async function checkSlack(checkup: Checkup): Promise<void> {
  const { config, store, report } = checkup;
  if (config.SLACK_APP_TOKEN) await checkAppToken(checkup, config.SLACK_APP_TOKEN.reveal());
  const tokens = config.SLACK_BOT_TOKEN
    ? [{ name: 'Slack', token: config.SLACK_BOT_TOKEN.reveal(), isOrg: false }]
    : await listInstalled(store);
  if (tokens.length === 0)
    report('Slack', 'warning', `The app isn’t installed anywhere. Open ${config.PUBLIC_URL}/slack/install`);
  for (const each of tokens) await checkToken(checkup, each);
}

interface Token {
  readonly name: string;
  readonly token: string;
  readonly isOrg: boolean;
}

async function listInstalled(store: Store | undefined): Promise<readonly Token[]> {
  const found = new Map<string, Token>();
  for (const { id } of (await store?.workspaces.list()) ?? []) {
    // One that can't be decrypted is reported with the encryption keys.
    const by = await store?.installationStore.findServing(id).catch(() => undefined);
    if (by) found.set(by.id, { name: `Slack ${by.id}`, token: by.tokens.bot.reveal(), isOrg: by.isOrg });
  }
  return [...found.values()];
}

/** Requests the address of a WebSocket (Socket Mode) without opening it, since the app may be running. */
async function checkAppToken({ config, report }: Checkup, token: string): Promise<void> {
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

async function checkToken(checkup: Checkup, { name, token, isOrg }: Token): Promise<void> {
  const { config, report } = checkup;
  const refuse = (text: string) => report(name, 'failed', text);
  const answer = await callSlack(config, token, 'auth.test');
  if (!answer.isOk) return refuse(answer.isSlacks ? `${answer.text} ${INSTALL_AGAIN}` : answer.text);
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
      ? `${answer.text} If no user has this ID, correct OWNERS.`
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
  const text = `Slack refused ${method} (${code}, explained at https://docs.slack.dev/reference/methods/${method}).`;
  return { isOk: false, isSlacks: true, code, text };
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
const INSTALL_AGAIN = `If the token was revoked or the app was removed, install the app again. ${COPY_TOKEN}, if you set that.`;
