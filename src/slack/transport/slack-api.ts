import type { ModalView } from '@slack/types';
import { type Logger, LogLevel, WebClient } from '@slack/web-api';
import { Agent, fetch } from 'undici';
import type { Card } from '../../domain/decision.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Log } from '../../log.ts';
import type { Message } from '../kit/blocks.ts';

/** The few methods of Slack's Web API that are used. None throws: each says whether Slack took it, and why not. */
export interface SlackApi {
  whoAmI(): Promise<SlackAnswer<Introduction>>;
  openView(triggerId: string, view: ModalView): Promise<SlackAnswer<{ viewId: string }>>;
  updateView(viewId: string, view: ModalView): Promise<SlackAnswer>;
  postEphemeral(channelId: string, userId: string, message: Message): Promise<SlackAnswer>;
  /** To a channel, or directly to a person by user id; the card names the channel that it stands in. */
  post(recipient: string, message: Message): Promise<SlackAnswer<Card>>;
  updateMessage(card: Card, message: Message): Promise<SlackAnswer>;
  findUser(userId: string): Promise<SlackAnswer<{ user: unknown }>>;
  /** Disabled ones too, each with its members. */
  listGroups(): Promise<SlackAnswer<{ groups: unknown }>>;
  findChannel(channelId: string): Promise<SlackAnswer<{ channel: unknown }>>;
  /** Posts to a `response_url` (Slack, "Handling user interaction"). */
  respond(url: Secret<string>, body: Readonly<Record<string, unknown>>): Promise<SlackAnswer>;
}

/** Finds the token that a call is made with; undefined where the app is not installed (any more). */
export type FindToken = () => Promise<Secret<string> | undefined>;

/** The connections to Slack, which the clients of all workspaces share. */
export interface SlackConnections {
  /** The Web API as it is open to whoever has that token. */
  open(findToken: FindToken): SlackApi;
  close(): Promise<void>;
}

/** Which workspace a bot token is for. */
export interface Introduction {
  readonly workspaceId: string;
  readonly workspaceName: string;
  readonly botUserId: string;
  /** The organisation that the workspace belongs to (Enterprise Grid). */
  readonly enterpriseId?: string;
}

export type SlackAnswer<More = unknown> =
  | ({ readonly ok: true } & More)
  | { readonly ok: false; readonly error: string };

/** A person waits: one try of 5 s, and no queue that holds everybody up when Slack limits us. */
const TIMEOUT_MS = 5000;

/** Opens no connection yet; clients of the same workspace may be made more than once. */
export function createSlackConnections(options: { apiUrl: string; log: Log }): SlackConnections {
  const agent = new Agent({ connections: 64, keepAliveTimeout: 30_000 });
  const connect = (token: Secret<string>) =>
    new WebClient(token.reveal(), {
      slackApiUrl: options.apiUrl,
      logger: quietLogger(options.log),
      timeout: TIMEOUT_MS,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      fetch: (url, init) => fetch(url, { ...(init as object), dispatcher: agent }),
    });
  return {
    open: (findToken) =>
      createSlackApi(callerOf(findWebClient(findToken, connect), options.log), agent, options.log),
    close: () => agent.destroy(),
  };
}

/** A client of Slack's library has one token for good: a workspace whose token has changed gets a new one. */
function findWebClient(findToken: FindToken, connect: (token: Secret<string>) => WebClient) {
  let known: { readonly token: string; readonly web: WebClient } | undefined;
  return async (): Promise<WebClient | undefined> => {
    const token = await findToken();
    if (!token) return undefined;
    if (known?.token !== token.reveal()) known = { token: token.reveal(), web: connect(token) };
    return known.web;
  };
}

function createSlackApi(call: Call, agent: Agent, log: Log): SlackApi {
  return {
    whoAmI: () => call('auth.test', {}, introductionIn),
    openView: (triggerId, view) =>
      call('views.open', { trigger_id: triggerId, view }, (answer) => ({ viewId: viewIdOf(answer) })),
    updateView: (viewId, view) => call('views.update', { view_id: viewId, view }),
    postEphemeral: (channel, user, { text, blocks }) =>
      call('chat.postEphemeral', { channel, user, text, blocks }),
    post: (channel, { text, blocks }) =>
      call('chat.postMessage', { channel, text, blocks, unfurl_links: false, unfurl_media: false }, cardIn),
    updateMessage: ({ channelId: channel, ts }, { text, blocks }) =>
      call('chat.update', { channel, ts, text, blocks }),
    findUser: (user) => call('users.info', { user }, (answer) => ({ user: answer.user })),
    listGroups: () =>
      call('usergroups.list', { include_disabled: true, include_users: true }, (answer) => ({
        groups: answer.usergroups,
      })),
    findChannel: (channel) =>
      call('conversations.info', { channel }, (answer) => ({ channel: answer.channel })),
    respond: (url, body) => respond(url, body, agent, log),
  };
}

type Call = ReturnType<typeof callerOf>;

function callerOf(findWeb: () => Promise<WebClient | undefined>, log: Log) {
  return async <More = unknown>(
    method: string,
    body: Record<string, unknown>,
    read: (answer: Record<string, unknown>) => More = () => ({}) as More,
  ): Promise<SlackAnswer<More>> => {
    try {
      const web = await findWeb();
      if (!web) return { ok: false, error: 'not_installed' };
      return { ok: true, ...read({ ...(await web.apiCall(method, body)) }) };
    } catch (error) {
      const reason = reasonOf(error);
      log.debug('Slack refused a call', { method, reason });
      return { ok: false, error: reason };
    }
  };
}

async function respond(
  url: Secret<string>,
  body: Readonly<Record<string, unknown>>,
  agent: Agent,
  log: Log,
): Promise<SlackAnswer> {
  try {
    const { origin, pathname, search } = new URL(url.reveal());
    // Three times cheaper than `fetch`. It follows no redirect: that is no "ok" either.
    const answer = await agent.request({
      origin,
      path: `${pathname}${search}`,
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'vps-slack' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await answer.body.text();
    const error = findRefusal(answer.statusCode, text);
    if (error === undefined) return { ok: true };
    log.debug('Slack refused a reply', { reason: error });
    return { ok: false, error };
  } catch (error) {
    return { ok: false, error: reasonOf(error) };
  }
}

/** Slack says `ok` as text or as JSON; what it says otherwise is not documented, so anything else has failed. */
function findRefusal(status: number, text: string): string | undefined {
  if (status < 200 || status > 299) return codeIn(text) ?? `status_${status}`;
  return /"ok"\s*:\s*false/.test(text) ? (codeIn(text) ?? 'not_ok') : undefined;
}

/** An error code out of an answer, never the answer itself: it may repeat what was posted. */
function codeIn(text: string): string | undefined {
  const code = /"error"\s*:\s*"([a-z_]{1,40})"/.exec(text)?.[1] ?? text.trim();
  return /^[a-z_]{1,40}$/.test(code) ? code : undefined;
}

function reasonOf(error: unknown): string {
  const platform = (error as { data?: { error?: unknown } } | undefined)?.data?.error;
  if (typeof platform === 'string') return platform;
  return error instanceof Error ? error.name : 'unknown';
}

function introductionIn(answer: Record<string, unknown>): Introduction {
  const enterpriseId = answer.enterprise_id;
  return {
    workspaceId: String(answer.team_id ?? ''),
    workspaceName: String(answer.team ?? ''),
    botUserId: String(answer.user_id ?? ''),
    ...(typeof enterpriseId === 'string' ? { enterpriseId } : {}),
  };
}

function cardIn(answer: Record<string, unknown>): Card {
  return { channelId: String(answer.channel ?? ''), ts: String(answer.ts ?? '') };
}

function viewIdOf(answer: Record<string, unknown>): string {
  return String((answer.view as { id?: unknown } | undefined)?.id ?? '');
}

/** Slack's own packages log whole bodies at debug level, a root password included: only that there was trouble is kept. */
export function quietLogger(log: Log): Logger {
  return {
    debug() {},
    info() {},
    warn: () => log.debug('Slack’s library warned'),
    error: () => log.debug('Slack’s library reported an error'),
    setLevel() {},
    setName() {},
    getLevel: () => LogLevel.ERROR,
  };
}
