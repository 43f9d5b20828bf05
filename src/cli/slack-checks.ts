import { Agent, request } from 'undici';
import { z } from 'zod';
import type { SlackCheckConfig } from '../config.ts';
import { listNamedOwners } from '../core/roles.ts';
import type { Secret } from '../core/secret.ts';
import { textMessage } from '../slack/kit/blocks.ts';
import type { System } from '../system.ts';

/** The status of one check. */
export type Status = 'ok' | 'warning' | 'failed' | 'skipped';

/** A message or form of the app, as sent to Slack. */
export interface Piece {
  readonly name: string;
  readonly kind: 'message' | 'view';
  readonly content: object;
}

/** The options of the checks. */
export interface Wanted {
  /** The ID of a channel, or its name without the #. */
  readonly channel: string | undefined;
  readonly userId: string | undefined;
  readonly hasGallery: boolean;
}

interface Parts {
  readonly config: SlackCheckConfig;
  readonly wanted: Wanted;
  readonly system: System;
  readPieces(): Promise<readonly Piece[]>;
  /** Writes progress. */
  tell(words: string): void;
  /** Reports the outcome of a check as soon as it has ended. `code`: an error code, if any. */
  report(check: string, status: Status, text: string, code?: string): void;
}

interface Checkup extends Parts {
  readonly call: (method: string, args?: Arguments, progress?: string) => Promise<Answer>;
  /** The token's scopes; undefined if Slack didn't say. */
  readonly granted: readonly string[] | undefined;
  readonly owners: readonly string[];
  /** The user who gets the direct message. */
  readonly userId: string | undefined;
  /** The app's own user. */
  readonly botUserId: string;
}

/** Runs all checks and reports each, the longest last. Posts, edits and deletes test messages. */
export async function runChecks(parts: Parts): Promise<void> {
  const { config, wanted, report } = parts;
  const agent = new Agent({
    connect: { timeout: TIMEOUT_MS },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  try {
    if (config.SLACK_APP_TOKEN) await checkAppToken(createCall(parts, agent, config.SLACK_APP_TOKEN), parts);
    await checkPublicAddress(parts, agent);
    await checkHosting(parts, agent);
    const call = createCall(parts, agent, config.SLACK_BOT_TOKEN);
    const app = await checkToken(call, parts);
    if (!app) return report('everything else', 'skipped', 'needs a token that works.');
    const owners = listNamedOwners(config.OWNERS);
    const checkup: Checkup = { ...parts, ...app, call, owners, userId: wanted.userId ?? owners[0] };
    checkScopes(checkup);
    await checkUsers(checkup);
    await checkGroups(checkup);
    await checkDirectMessage(checkup);
    await checkChannel(checkup);
    await checkGallery(checkup);
  } finally {
    await agent.destroy();
  }
}

/** Requests the address of a WebSocket (Socket Mode) without opening it, since the app may be running. */
async function checkAppToken(call: Checkup['call'], { report }: Parts): Promise<void> {
  const answer = await call('apps.connections.open');
  if (answer.isOk) return report('app-level token', 'ok', 'Slack offers a connection for Socket Mode.');
  const text = answer.isSlacks
    ? `Slack doesn’t accept SLACK_APP_TOKEN (${answer.code}). Create an app-level token with the scope connections:write under Basic Information in the app’s settings, and copy it into SLACK_APP_TOKEN; it starts with xapp-.`
    : answer.text;
  report('app-level token', 'failed', text, answer.code);
}

/** Requests `/livez` from the app at its public address. */
async function checkPublicAddress({ config, report }: Parts, agent: Agent): Promise<void> {
  const check = 'public address';
  if (config.PUBLIC_URL === undefined) return report(check, 'skipped', 'PUBLIC_URL isn’t set.');
  const url = `${config.PUBLIC_URL}/livez`;
  const page = await fetchPage(agent, url);
  if ('code' in page) {
    // Some networks don't let a machine reach its own public address, so this proves nothing.
    const text = `${url} can’t be reached from this machine (${page.code}). Check the DNS name, the proxy with TLS and the firewall, or open it from elsewhere.`;
    return report(check, 'warning', text, page.code);
  }
  const { status } = page;
  if (status === 200 && page.text.trim() === 'ok') return report(check, 'ok', `${url} answers.`);
  const text =
    status >= 500
      ? `${url} answers ${status}: start the app, and check where the proxy forwards to.`
      : `${url} is answered by something other than the app (HTTP ${status}). Check PUBLIC_URL and where the proxy forwards to.`;
  report(check, 'failed', text, `status_${status}`);
}

/** Requests the hosting API without a key. Any answer is good: its certificate was accepted. */
async function checkHosting({ config, report }: Parts, agent: Agent): Promise<void> {
  const { host } = new URL(config.HOSTING_BASE_URL);
  const page = await fetchPage(agent, config.HOSTING_BASE_URL);
  if (!('code' in page)) return report('hosting API', 'ok', `${host} answers.`);
  const text = `${host} can’t be reached (${page.code}). Check HOSTING_BASE_URL, and this machine’s DNS, firewall and proxy. ${CERTIFICATE}`;
  report('hosting API', 'failed', text, page.code);
}

const introduction = z.object({
  team: z.string().catch(''),
  team_id: z.string(),
  user: z.string().catch(''),
  user_id: z.string(),
  bot_id: z.string().optional(),
  is_enterprise_install: z.boolean().catch(false),
});

/** Asks Slack whose token it is. Undefined if it doesn't work, and nothing else can be checked. */
async function checkToken(
  call: Checkup['call'],
  { report }: Parts,
): Promise<Pick<Checkup, 'granted' | 'botUserId'> | undefined> {
  const answer = await call('auth.test');
  const refuse = (text: string, code: string) => {
    report('token', 'failed', text, code);
    return undefined;
  };
  if (!answer.isOk) return refuse(answer.text, answer.code);
  const owner = introduction.safeParse(answer.body).data;
  if (!owner?.bot_id)
    return refuse(`This is not a bot token. ${COPY_TOKEN}; it starts with xoxb-.`, 'not_a_bot_token');
  if (owner.is_enterprise_install)
    return refuse(
      'The token is for a whole organization, which SLACK_BOT_TOKEN doesn’t support. Install the app in one workspace, or set SLACK_CLIENT_ID instead.',
      'org_install',
    );
  report('token', 'ok', `workspace ${owner.team} (${owner.team_id}), as @${owner.user}.`);
  return { granted: answer.scopes, botUserId: owner.user_id };
}

/** The scopes of manifest.yml, and what is lost without each. */
export const SCOPES = {
  commands: { isRequired: true, lost: 'users don’t have /vps' },
  'chat:write': { isRequired: true, lost: 'nothing can be posted' },
  'app_mentions:read': { isRequired: true, lost: 'commands by mention aren’t answered' },
  'im:history': { isRequired: true, lost: 'commands by direct message aren’t answered' },
  'users:read': {
    isRequired: false,
    lost: 'workspace admins aren’t owners, and roles of user groups and channels don’t count',
  },
  'usergroups:read': { isRequired: false, lost: 'user groups can’t have roles' },
  'channels:read': {
    isRequired: false,
    lost: 'nothing is announced in public channels, and none can be chosen for approvals',
  },
  'groups:read': {
    isRequired: false,
    lost: 'nothing is announced in private channels, and none can be chosen for approvals',
  },
  'reactions:write': { isRequired: false, lost: 'alerts get no ✅ when a server is back' },
} as const satisfies Readonly<Record<string, { readonly isRequired: boolean; readonly lost: string }>>;

function checkScopes({ granted, report }: Checkup): void {
  if (granted === undefined) {
    const text =
      'Slack didn’t say which scopes the token has. Let no proxy remove the header X-OAuth-Scopes.';
    report('scopes', 'warning', text, 'scopes_unknown');
    return;
  }
  for (const [scope, { isRequired, lost }] of Object.entries(SCOPES)) {
    const text = `missing, so ${lost}. ${isRequired ? '' : 'If you want that: '}${ADD_SCOPE}`;
    if (granted.includes(scope)) report(`scope ${scope}`, 'ok', 'granted.');
    else report(`scope ${scope}`, isRequired ? 'failed' : 'warning', text, 'missing_scope');
  }
  const others = granted.filter((scope) => scope !== '' && !Object.hasOwn(SCOPES, scope));
  if (others.length === 0) return;
  const text = `The app also has ${others.join(', ')}, which it doesn’t use. Remove what the manifest doesn’t ask for, and reinstall the app.`;
  report('scopes', 'warning', text, 'extra_scopes');
}

/** Whether a call is worth trying: the scope is granted, or Slack didn't list the scopes. */
function mayUse({ granted }: Checkup, scope: keyof typeof SCOPES): boolean {
  return granted === undefined || granted.includes(scope);
}

const userFields = z.object({
  user: z.object({
    name: z.string().catch(''),
    deleted: z.boolean().catch(false),
    is_bot: z.boolean().catch(false),
  }),
});

/** Looks up the owners and the user of the direct message; if there are none, the app's own user. */
async function checkUsers(checkup: Checkup): Promise<void> {
  const { report, owners, userId, botUserId } = checkup;
  const mayAsk = mayUse(checkup, 'users:read');
  if (owners.length > 0) report('owners', 'ok', `${owners.length} in OWNERS.`);
  else if (mayAsk) report('owners', 'ok', 'the workspace’s admins, since OWNERS is empty.');
  else report('owners', 'failed', 'There are none. Set OWNERS, or grant users:read.', 'no_owner');
  if (!mayAsk) return report('users', 'skipped', 'needs the scope users:read.');
  const people = new Set([...(userId === undefined ? [] : [userId]), ...owners]);
  for (const id of people.size === 0 ? [botUserId] : people) await checkUser(checkup, id);
}

async function checkUser({ call, report, botUserId }: Checkup, id: string): Promise<void> {
  const answer = await call('users.info', { user: id });
  const refuse = (code: string, text = FIXES[code] ?? code) => report(`user ${id}`, 'failed', text, code);
  if (!answer.isOk) return refuse(answer.code, answer.text);
  const user = userFields.safeParse(answer.body).data?.user;
  if (!user) return refuse('user_not_found');
  if (user.deleted) return refuse('user_disabled');
  if (user.is_bot && id !== botUserId) return refuse('cannot_dm_bot');
  report(`user ${id}`, 'ok', `found, @${user.name}.`);
}

const groupFields = z.object({ usergroups: z.array(z.unknown()) });

/** Lists user groups as the app does: with members and disabled groups. */
async function checkGroups(checkup: Checkup): Promise<void> {
  const { call, report } = checkup;
  if (!mayUse(checkup, 'usergroups:read'))
    return report('user groups', 'skipped', 'needs the scope usergroups:read.');
  const answer = await call('usergroups.list', { include_disabled: true, include_users: true });
  if (!answer.isOk) return report('user groups', 'failed', answer.text, answer.code);
  const count = groupFields.safeParse(answer.body).data?.usergroups.length ?? 0;
  report('user groups', 'ok', `${count} found.`);
}

/** Posts a direct message to a user by ID, as the app does, and deletes it. Fails if the Messages tab is off. */
async function checkDirectMessage(checkup: Checkup): Promise<void> {
  const { report, userId } = checkup;
  const check = 'direct message';
  if (userId === undefined) return report(check, 'skipped', 'name a user with --user, or set OWNERS.');
  if (!mayUse(checkup, 'chat:write')) return report(check, 'skipped', 'needs the scope chat:write first.');
  const message = await postMessage(checkup, userId);
  if ('code' in message) {
    // A user's ID is the channel here.
    const isUnknown = message.code === 'channel_not_found';
    return report(check, 'failed', (isUnknown && FIXES.user_not_found) || message.text, message.code);
  }
  report(check, 'ok', `Slack accepted one to ${userId}.`);
  await deleteMessage(checkup, 'direct message, deleted', message, `in ${userId}’s conversation`);
}

const POSTING = ['post', 'edit', 'ephemeral message', 'delete'] as const;

/** Looks up the channel and, unless another organization would read it, posts, edits and deletes a message there. */
async function checkChannel(checkup: Checkup): Promise<void> {
  const { report, wanted } = checkup;
  const skip = (text: string) => {
    for (const check of POSTING) report(check, 'skipped', text);
  };
  const needed = !wanted.channel
    ? 'name a channel with --channel.'
    : !mayUse(checkup, 'channels:read') && !mayUse(checkup, 'groups:read')
      ? 'needs the scope channels:read, or groups:read for a private one.'
      : undefined;
  if (needed !== undefined || !wanted.channel) {
    report('channel', 'skipped', needed ?? '');
    return skip(needed ?? '');
  }
  const channel = await lookUpChannel(checkup, wanted.channel);
  if (!channel) return skip('the channel has to be seen by the app first.');
  if (channel.isShared) return skip('another organization would read it. Name another channel.');
  if (!mayUse(checkup, 'chat:write')) return skip('needs the scope chat:write first.');
  await postAndDelete(checkup, channel);
}

interface Channel {
  readonly id: string;
  readonly title: string;
  readonly isShared: boolean;
}

/** The fields that `slack/directory.ts` reads, and those that keep the app from posting. */
const channelFields = z.object({
  channel: z.object({
    name: z.string().catch(''),
    is_im: z.boolean().catch(false),
    is_mpim: z.boolean().catch(false),
    is_archived: z.boolean().catch(false),
    is_member: z.boolean().catch(true),
    is_ext_shared: z.boolean(),
    is_pending_ext_shared: z.boolean().catch(false),
  }),
});

async function lookUpChannel(checkup: Checkup, wanted: string): Promise<Channel | undefined> {
  const { call, report } = checkup;
  const refuse = (code: string, text = FIXES[code] ?? code) => {
    report('channel', 'failed', text, code);
    return undefined;
  };
  // IDs are upper case and names are lower case, so neither is taken for the other.
  const found = /^[CG][A-Z0-9]{2,}$/.test(wanted) ? wanted : await findChannel(checkup, wanted.toLowerCase());
  if (found === undefined)
    return refuse('channel_not_found', `The app sees no channel #${wanted}. Check the name. ${INVITE}`);
  if (typeof found !== 'string') return refuse(found.code, found.text);
  const answer = await call('conversations.info', { channel: found });
  if (!answer.isOk) return refuse(answer.code, answer.text);
  const channel = channelFields.safeParse(answer.body).data?.channel;
  if (!channel || channel.is_im || channel.is_mpim) return refuse('method_not_supported_for_channel_type');
  if (channel.is_archived) return refuse('is_archived');
  if (!channel.is_member) return refuse('not_in_channel');
  const title = channel.name === '' ? found : `#${channel.name}`;
  const isShared = channel.is_ext_shared || channel.is_pending_ext_shared;
  const shared = `${title} is shared with another organization, or about to be: the app announces nothing there. Nothing was posted.`;
  if (isShared) report('channel', 'warning', shared, 'shared_channel');
  else report('channel', 'ok', `${title} (${found}), not shared with other organizations.`);
  return { id: found, title, isShared };
}

const channelList = z.object({
  channels: z.array(z.object({ id: z.string(), name: z.string().catch('') })),
  response_metadata: z
    .object({ next_cursor: z.string().catch('') })
    .optional()
    .catch(undefined),
});

/** Channels per page; Slack advises fewer than 1000. */
const PAGE = 999;
const MOST_PAGES = 200;

/** Finds a channel's ID by name: undefined if the app can see none, a failure if Slack refuses the list. */
async function findChannel(checkup: Checkup, name: string): Promise<string | undefined | Failure> {
  // Slack refuses the list if a scope for one of its types is missing.
  const types = [
    ...(mayUse(checkup, 'channels:read') ? ['public_channel'] : []),
    ...(mayUse(checkup, 'groups:read') ? ['private_channel'] : []),
  ].join(',');
  let cursor = '';
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const args = { types, limit: PAGE, ...(cursor === '' ? undefined : { cursor }) };
    const answer = await checkup.call('conversations.list', args);
    if (!answer.isOk) return answer;
    const page = channelList.safeParse(answer.body).data;
    const found = page?.channels.find((channel) => channel.name === name);
    cursor = page?.response_metadata?.next_cursor ?? '';
    if (found || cursor === '') return found?.id;
  }
  return undefined;
}

async function postAndDelete(checkup: Checkup, { id, title }: Channel): Promise<void> {
  const { call, report, userId: user } = checkup;
  const message = await postMessage(checkup, id);
  if ('code' in message) {
    report('post', 'failed', message.text, message.code);
    for (const check of POSTING.slice(1)) report(check, 'skipped', 'needs a message first.');
    return;
  }
  report('post', 'ok', `in ${title}.`);
  const edited = await call('chat.update', {
    ...message,
    ...testMessage('It was edited, and will be deleted right away.'),
  });
  if (edited.isOk) report('edit', 'ok', `in ${title}.`);
  else report('edit', 'failed', edited.text, edited.code);
  const check = 'ephemeral message';
  if (user === undefined) report(check, 'skipped', 'name a user with --user, or set OWNERS.');
  else {
    const args = { channel: id, user, ...testMessage('Only you can see it, until Slack reloads.') };
    const answer = await call('chat.postEphemeral', args);
    if (!answer.isOk) report(check, 'failed', answer.text, answer.code);
    else report(check, 'ok', `Slack accepted one to ${user}; it shows only while they are looking.`);
  }
  await deleteMessage(checkup, 'delete', message, `in ${title}`);
}

function testMessage(words: string) {
  const { text, blocks } = textMessage(
    `Test message from the vps app: its operator ran \`npm run check:slack\`. ${words}`,
  );
  return { text, blocks };
}

const posted = z.object({ channel: z.string(), ts: z.string() });

/** Posts a test message to a channel, or to a user by ID. */
async function postMessage({ call }: Checkup, channel: string): Promise<z.output<typeof posted> | Failure> {
  const answer = await call('chat.postMessage', {
    channel,
    ...testMessage('It will be deleted right away.'),
  });
  return answer.isOk ? (posted.safeParse(answer.body).data ?? notSlacks(200)) : answer;
}

async function deleteMessage(
  { call, report }: Checkup,
  check: string,
  { channel, ts }: z.output<typeof posted>,
  place: string,
): Promise<void> {
  const answer = await call('chat.delete', { channel, ts });
  if (answer.isOk) return report(check, 'ok', 'the test message is gone.');
  const text = `The test message is still ${place}: delete it there. ${answer.text}`;
  report(check, 'failed', text, answer.code);
}

const blockFaults = z.object({
  errors: z.array(
    z.object({
      pointer: z.string().catch(''),
      code: z.string().catch(''),
      message: z.string().catch(''),
    }),
  ),
});

/** Pieces between two lines of progress. */
const STEP = 100;
/** Faults shown of one message or form. */
const MOST_FAULTS = 5;

/** Lets Slack validate every message and form, one after the other, since its limit for this isn't documented. */
async function checkGallery({ call, report, tell, wanted, readPieces }: Checkup): Promise<void> {
  if (!wanted.hasGallery) return report('gallery', 'skipped', 'left out by --no-gallery.');
  const pieces = await readPieces();
  const known = new Set<string>();
  let refused = 0;
  for (const [index, { name, kind, content }] of pieces.entries()) {
    const progress = `${index} of ${pieces.length} messages and forms checked`;
    if (index > 0 && index % STEP === 0) tell(`${progress}.`);
    const json = JSON.stringify(content);
    if (known.has(json)) continue;
    known.add(json);
    const answer = await call('blocks.validate', { [kind]: content }, progress);
    if (answer.isOk) continue;
    if (!/^invalid_(blocks|message|view)$/.test(answer.code))
      return report('gallery', 'failed', `${progress}, then it stopped: ${answer.text}`, answer.code);
    refused += 1;
    const faults = blockFaults.safeParse(answer.body).data?.errors ?? [];
    const places = faults
      .slice(0, MOST_FAULTS)
      .map(({ pointer, code, message }) => `${pointer || '/'} (${code}: ${message.slice(0, 300)})`);
    const text = `Slack refuses it at ${places.join(', ') || 'an unknown place'}. This is a bug of the app, not of your setup: please report this line.`;
    report(`gallery: ${name}`, 'failed', text, answer.code);
  }
  if (refused === 0) report('gallery', 'ok', `Slack accepts all ${pieces.length} messages and forms.`);
}

type Arguments = Readonly<Record<string, unknown>>;
type Answer =
  | { readonly isOk: true; readonly body: unknown; readonly scopes: readonly string[] | undefined }
  | Failure;

/** A failed call, with a sentence that says how to fix it. */
interface Failure {
  readonly isOk: false;
  /** Whether Slack itself refused, rather than something on the way. */
  readonly isSlacks: boolean;
  readonly code: string;
  readonly text: string;
  readonly body?: unknown;
}

const TIMEOUT_MS = 20_000;
/** Slack usually asks for a minute at most; a longer pause is reported instead. */
const LONGEST_PAUSE_SECONDS = 120;
const USUAL_PAUSE_SECONDS = 30;
const MOST_PAUSES = 10;

const slacksAnswer = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true) }),
  z.object({
    ok: z.literal(false),
    error: z.string().regex(/^[\w.:-]{1,80}$/),
    needed: z.string().optional().catch(undefined),
  }),
]);

/**
 * Creates a function that calls Slack's Web API with a token, and waits while Slack limits the method. Never throws. The app's own
 * client hides what has to be shown here: scopes, a proxy's page, the places of faults.
 */
function createCall({ config, system, tell }: Parts, agent: Agent, token: Secret<string>): Checkup['call'] {
  return async (method, args = {}, progress = '') => {
    for (let pauses = 0; ; pauses++) {
      const page = await fetchPage(agent, `${config.SLACK_API_URL}${method}`, token, args);
      if ('code' in page) return { isOk: false, isSlacks: false, code: page.code, text: UNREACHABLE };
      const answer = slacksAnswer.safeParse(readJson(page.text)).data;
      const code = answer?.ok === false ? answer.error : '';
      if (page.status === 429 || /^rate_?limited$/.test(code)) {
        const seconds = page.retryAfterSeconds ?? USUAL_PAUSE_SECONDS;
        const text = `Slack limits this method for ${seconds} s more. Run this check again after that.`;
        if (seconds > LONGEST_PAUSE_SECONDS || pauses >= MOST_PAUSES)
          return { isOk: false, isSlacks: true, code: 'rate_limited', text };
        tell(`Slack limits ${method}: waiting ${seconds} s${progress && `, ${progress}`}.`);
        await system.sleep(seconds * 1000);
        continue;
      }
      const body = readJson(page.text);
      if (answer?.ok && page.status === 200) return { isOk: true, body, scopes: page.scopes };
      if (answer?.ok !== false) return notSlacks(page.status);
      const needed =
        code === 'missing_scope' && `The app lacks the scope ${answer.needed ?? ''}. ${ADD_SCOPE}`;
      const unknown = `Slack refuses ${method} (${code}). What this means is on https://docs.slack.dev/reference/methods/${method}`;
      return { isOk: false, isSlacks: true, code, text: needed || (FIXES[code] ?? unknown), body };
    }
  };
}

interface Page {
  readonly status: number;
  readonly text: string;
  readonly scopes: readonly string[] | undefined;
  readonly retryAfterSeconds: number | undefined;
}

/**
 * Posts with a token, gets without one. Follows no redirect, so that the token goes nowhere else. Returns only the code of a network
 * error, whose text may repeat what was sent.
 */
async function fetchPage(
  dispatcher: Agent,
  url: string,
  token?: Secret<string>,
  args: Arguments = {},
): Promise<Page | { readonly code: string }> {
  // Form-encoded, as Slack's own library does: some methods read no JSON.
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(args))
    form.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  try {
    const { statusCode, headers, body } = await request(url, {
      dispatcher,
      ...(token && {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token.reveal()}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: form.toString(),
      }),
    });
    const { 'x-oauth-scopes': scopes, 'retry-after': wait } = headers;
    return {
      status: statusCode,
      text: await body.text(),
      scopes: typeof scopes === 'string' ? scopes.split(',').map((scope) => scope.trim()) : undefined,
      retryAfterSeconds: typeof wait === 'string' && /^\d{1,6}$/.test(wait) ? Number(wait) : undefined,
    };
  } catch (error) {
    return { code: z.object({ code: z.string() }).safeParse(error).data?.code ?? 'network' };
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function notSlacks(status: number): Failure {
  const text = `The answer isn’t Slack’s (HTTP ${status}), but that of a proxy or another site, or Slack has an outage. Let this machine reach Slack directly, and check SLACK_API_URL.`;
  return { isOk: false, isSlacks: false, code: 'not_slack', text };
}

const CERTIFICATE = 'If a proxy inspects TLS here, put its CA into NODE_EXTRA_CA_CERTS.';
const UNREACHABLE = `Slack can’t be reached. Check SLACK_API_URL, this machine’s DNS, firewall and proxy, and that the token has no stray character. ${CERTIFICATE}`;
const ADD_SCOPE = 'Add it under OAuth & Permissions in the app’s settings, and reinstall the app.';
const COPY_TOKEN = 'Copy the Bot User OAuth Token from the app’s Install App page into SLACK_BOT_TOKEN';
const INVITE = 'If the channel is private, or the app isn’t a member, invite it: type /invite @vps there.';
const RESTRICTED =
  'The posting permissions of the workspace or the channel don’t let the app post there. Change these posting permissions, or name another channel.';

/** What to do, by Slack's error code (docs.slack.dev, the pages of the methods). */
const FIXES: Readonly<Record<string, string>> = {
  invalid_auth: `Slack doesn’t accept SLACK_BOT_TOKEN. ${COPY_TOKEN}. If the app has a list of allowed IP addresses, add this machine’s.`,
  token_revoked: `The token was revoked. Install the app again, then: ${COPY_TOKEN}.`,
  token_expired: `The token has expired: token rotation is on, which SLACK_BOT_TOKEN doesn’t support. Create the app again from its manifest, then: ${COPY_TOKEN}.`,
  account_inactive: `The app was removed from the workspace, or the workspace was deleted. Install the app again, then: ${COPY_TOKEN}.`,
  not_allowed_token_type: `This is not a bot token. ${COPY_TOKEN}; it starts with xoxb-.`,
  messages_tab_disabled:
    'Slack refuses direct messages. Turn on the Messages tab under App Home in the app’s settings.',
  cannot_dm_bot: 'This ID is a bot’s. Name a user with --user, and correct OWNERS.',
  user_not_found: 'No user here has this ID. Correct OWNERS, or name another user with --user.',
  user_disabled:
    'This user’s account is deactivated. Remove it from OWNERS, or name another user with --user.',
  user_not_in_channel: 'The user isn’t a member of the channel. Name one who is with --user.',
  not_in_channel: `The app isn’t a member of the channel. ${INVITE}`,
  channel_not_found: `The app can’t see this channel. Check the ID. ${INVITE}`,
  is_archived: 'The channel is archived. Name another one with --channel.',
  method_not_supported_for_channel_type:
    'This conversation is of a kind that the app doesn’t use. Name a channel with --channel.',
  restricted_action: RESTRICTED,
  restricted_action_read_only_channel: RESTRICTED,
  restricted_action_thread_only_channel: RESTRICTED,
  no_permission: RESTRICTED,
};
