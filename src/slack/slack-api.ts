import type { HomeView, ModalView } from '@slack/types';
import { WebClient, type WebClientOptions } from '@slack/web-api';
import { LRUCache } from 'lru-cache';
import { Agent, fetch } from 'undici';
import { z } from 'zod';
import type { Installations } from '../context.ts';
import type { PostedMessage, WorkspaceId } from '../core/ids.ts';
import type { Secret } from '../core/secret.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import { quietLogger } from './bolt.ts';
import { type Message, type MessageBlock, stampBlocks, stampView } from './kit/blocks.ts';
import {
  createRefusalLog,
  type LogRefusal,
  readRefusal,
  readReplyRefusal,
  type SlackRefusal,
  saysOk,
  withFallback,
} from './refusals.ts';

/** The token for calls about a workspace. */
interface BotToken {
  readonly token: Secret<string>;
  /** The workspace, to be named in every call; present if the token is for a whole organization. */
  readonly teamId?: string;
}

export type FindToken = () => Promise<BotToken | undefined>;

/** An answer of the Web API; `error` is absent if Slack took the call. */
export interface SeenAnswer {
  readonly method: string;
  readonly error?: string | undefined;
  /** The recipient of a post, or the channel that the call is about. */
  readonly channelId?: string | undefined;
  /** The scopes that Slack says are missing, separated by commas. */
  readonly neededScope?: string | undefined;
}

type SlackWatch = (seen: SeenAnswer) => void;

/** The result of a call: what Slack returned, or Slack's error code or the name of the failure. */
export type SlackAnswer<More = unknown> =
  | ({ readonly ok: true } & More)
  | { readonly ok: false; readonly error: string; readonly retryAfterMs?: number | undefined };

/** The timeout of a call, which is made once, since a user waits for it. */
const TIMEOUT_MS = 5000;

export type SlackConnections = ReturnType<typeof createSlackConnections>;

/** Creates the connections to Slack, which the clients of all workspaces share; none is opened yet. */
export function createSlackConnections(options: {
  readonly apiUrl: string;
  readonly log: Log;
  readonly system: System;
  /** Called with each answer, for metrics. */
  readonly onAnswer?: SlackWatch;
}) {
  const refused = createRefusalLog(options.log, options.system);
  const clock = createSlackClock(options.system);
  const agent = new Agent({ connections: 64, keepAliveTimeout: 30_000 });
  const clientOptions = (): WebClientOptions => ({
    slackApiUrl: options.apiUrl,
    logger: quietLogger(options.log),
    timeout: TIMEOUT_MS,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    // Slack's library sends text; forms with files are not used here.
    fetch: async (url, { body, ...init } = {}) => {
      const text = typeof body === 'string' ? body : null;
      const askedAt = options.system.now();
      const answer = await fetch(url, { ...init, body: text, dispatcher: agent });
      clock.noteAnswer(answer.headers.get('date'), askedAt);
      return answer;
    },
  });
  const connect = (token: Secret<string>) => new WebClient(token.reveal(), clientOptions());
  return {
    open: (findToken: FindToken, watchWorkspace?: SlackWatch): SlackApi => {
      const watch: SlackWatch = (seen) => {
        options.onAnswer?.(seen);
        watchWorkspace?.(seen);
      };
      const call = createCall(findToken, connect, refused, watch);
      // A failing store must not make a method throw.
      const findStamp = async () => (await findToken().catch(() => undefined))?.teamId;
      return createSlackApi(call, findStamp, agent, refused, options.system, watch);
    },
    /** Returns options for another client of Slack's libraries: a new object each time, since they write into it. */
    clientOptions,
    /** Slack's clock, by the answers of the Web API. */
    clock,
    close: () => agent.destroy(),
  };
}

export type SlackApi = ReturnType<typeof createSlackApi>;

/**
 * Creates the methods of Slack's Web API that the app uses. None throws: each returns whether Slack took the call, or why not. Those
 * that send a `Message` send it again in plainer blocks, or as text, if Slack refuses its blocks (`withFallback`).
 */
function createSlackApi(
  call: ReturnType<typeof createCall>,
  findStamp: () => Promise<WorkspaceId | undefined>,
  agent: Agent,
  refused: LogRefusal,
  system: System,
  watch: SlackWatch,
) {
  return {
    /** Returns what the token is for. */
    whoAmI: () => call('auth.test', {}, introduction),
    openView: (triggerId: string, view: ModalView) =>
      call('views.open', { trigger_id: triggerId, view }, openedView),
    updateView: (viewId: string, view: ModalView) => call('views.update', { view_id: viewId, view }, nothing),
    publishView: (userId: string, view: HomeView) =>
      call('views.publish', { user_id: userId, view }, nothing),
    /** Posts to one user in a channel; with `threadTs` in that thread, which must have a reply. */
    postEphemeral: (channel: string, user: string, message: Message, threadTs?: string) =>
      withFallback(message, (text, blocks) =>
        call('chat.postEphemeral', { channel, user, text, blocks, thread_ts: threadTs }, nothing),
      ),
    /** Posts to a channel, one of its threads, or directly to a user by ID. The card has the channel that Slack posted to. */
    post: (recipient: string, message: Message, threadTs?: string) =>
      withFallback(message, (text, blocks) => {
        const look = { unfurl_links: false, unfurl_media: false };
        const body = { channel: recipient, text, blocks, thread_ts: threadTs, ...look };
        return inTurn(system, () => call('chat.postMessage', body, card));
      }),
    /** Edits a message. `isPatient`: waits and tries again if there were too many calls. */
    updateMessage: ({ channelId: channel, ts }: PostedMessage, message: Message, isPatient = true) =>
      withFallback(message, (text, blocks) =>
        inTurn(system, () => call('chat.update', { channel, ts, text, blocks }, nothing), isPatient),
      ),
    /** Reacts to a message with an emoji (scope `reactions:write`). */
    react: ({ channelId: channel, ts: timestamp }: PostedMessage, name: string) =>
      call('reactions.add', { channel, timestamp, name }, nothing),
    findUser: (user: string) => call('users.info', { user }, z.object({ user: z.unknown() })),
    /** Lists one page of the workspace's users: the first, or the one of a cursor. */
    listUsers: (page: { limit: number; cursor?: string }) =>
      call(
        'users.list',
        page,
        z.unknown().transform((found) => ({ page: found })),
      ),
    /** Lists the user groups, disabled ones too, with their members. */
    listGroups: () => call('usergroups.list', { include_disabled: true, include_users: true }, foundGroups),
    findChannel: (channel: string) =>
      call('conversations.info', { channel }, z.object({ channel: z.unknown() })),
    completeStep: (id: string, outputs: Readonly<Record<string, string>>) =>
      call('functions.completeSuccess', { function_execution_id: id, outputs }, nothing),
    /** Ends an execution with an error, which users see. */
    failStep: (id: string, error: string) =>
      call('functions.completeError', { function_execution_id: id, error }, nothing),
    /** Lists one page of the members of a channel; `cursor` is '' for the first, and in the answer on the last. */
    listMembers: (channel: string, cursor: string) =>
      call('conversations.members', { channel, limit: 1000, ...(cursor && { cursor }) }, memberPage),
    /** Returns a message as this client posts it, for an ack. */
    stamp: async (message: Message): Promise<Message> => stampBody(message, await findStamp()),
    /** Posts to a `response_url` (Slack, "Handling user interaction"). `saysOk`: whether the answer says `ok`. */
    respond: async (
      url: Secret<string>,
      options: Readonly<Record<string, unknown>>,
      message?: Message,
    ): Promise<SlackAnswer<{ saysOk: boolean }>> => {
      const send = async (more: SentBody) => {
        const answer = await respond(url, { ...options, ...more }, agent, refused);
        const error = answer.ok ? undefined : answer.error;
        watch({ method: 'response_url', error });
        return answer;
      };
      if (!message) return send({});
      const stamp = await findStamp();
      return withFallback(message, (text, blocks) => send(stampBody({ text, blocks }, stamp)));
    },
  };
}

/** What a call sends, as far as it can carry the workspace (`stampBlocks` in kit/blocks.ts). */
interface SentBody {
  readonly blocks?: MessageBlock[];
  readonly view?: ModalView | HomeView;
  readonly [name: string]: unknown;
}

/** Puts the workspace into the blocks and the view of a call, if the app is installed for the whole organization. */
function stampBody<Body extends SentBody | Message>(body: Body, workspaceId: WorkspaceId | undefined): Body {
  if (workspaceId === undefined) return body;
  const { blocks, plainBlocks, view } = body as SentBody & Partial<Message>;
  return {
    ...body,
    ...(blocks && { blocks: stampBlocks(blocks, workspaceId) }),
    ...(plainBlocks && { plainBlocks: stampBlocks(plainBlocks, workspaceId) }),
    ...(view && { view: stampView(view, workspaceId) }),
  };
}

const TURN_MOST_MS = 30_000;
const TRIES = 3;

/**
 * Makes a call, and repeats it after the time that Slack asks for if its rate limit refused it: three calls at most, and one if not
 * patient. Doesn't wait longer than 30 s.
 */
async function inTurn<More>(
  system: System,
  send: () => Promise<SlackAnswer<More>>,
  isPatient = true,
): Promise<SlackAnswer<More>> {
  for (let tries = 1; ; tries++) {
    const answer = await send();
    if (answer.ok || answer.retryAfterMs === undefined) return answer;
    if (!isPatient || tries === TRIES || answer.retryAfterMs > TURN_MOST_MS) return answer;
    await system.sleep(answer.retryAfterMs);
  }
}

/*
 * The shapes of the Web API's answers, and what becomes of them.
 */
const text = z.string().catch('');

const nothing = z.unknown().transform(() => ({}));

/** Reads from the answer to `auth.test` what the token is for: a workspace, or all of an organization (Enterprise Grid). */
const introduction = z
  .object({ team_id: text, team: text, is_enterprise_install: z.boolean().catch(false) })
  .transform(({ team_id, team, is_enterprise_install }) => ({
    workspaceId: team_id,
    workspaceName: team,
    isOrgInstall: is_enterprise_install,
  }));
const openedView = z
  .object({ view: z.object({ id: text }).catch({ id: '' }) })
  .transform(({ view }) => ({ viewId: view.id }));
const card = z
  .object({ channel: text, ts: text })
  .transform(({ channel, ts }): PostedMessage => ({ channelId: channel, ts }));
const foundGroups = z
  .object({ usergroups: z.unknown() })
  .transform(({ usergroups }) => ({ groups: usergroups }));
const memberPage = z
  .object({ members: z.array(z.string()), response_metadata: z.object({ next_cursor: text }).optional() })
  .transform(({ members, response_metadata: more }) => ({ members, cursor: more?.next_cursor ?? '' }));

/** Creates the function that calls a method. The library's client keeps its token, so a new one is made if that has changed. */
function createCall(
  findToken: FindToken,
  connect: (token: Secret<string>) => WebClient,
  refused: LogRefusal,
  watch: SlackWatch,
) {
  let known: { readonly token: string; readonly web: WebClient } | undefined;
  return async <More>(
    method: string,
    body: SentBody,
    answer: z.ZodType<More>,
  ): Promise<SlackAnswer<More>> => {
    const channelId = typeof body.channel === 'string' ? body.channel : undefined;
    try {
      const found = await findToken();
      if (!found) return { ok: false, error: 'not_installed' };
      const token = found.token.reveal();
      if (known?.token !== token) known = { token, web: connect(found.token) };
      const answered = answer.parse(
        await known.web.apiCall(method, { team_id: found.teamId, ...stampBody(body, found.teamId) }),
      );
      watch({ method, channelId });
      return { ok: true, ...answered };
    } catch (thrown) {
      const refusal = readRefusal(thrown);
      // From an earlier act on the same alert: the reaction is already there.
      const isThere = refusal.code === 'already_reacted';
      if (!isThere) refused(method, refusal);
      const error = isThere ? undefined : refusal.code;
      watch({ method, channelId, error, neededScope: refusal.neededScope });
      return { ok: false, error: refusal.code, retryAfterMs: refusal.retryAfterMs };
    }
  };
}

async function respond(
  url: Secret<string>,
  body: Readonly<Record<string, unknown>>,
  agent: Agent,
  refused: LogRefusal,
): Promise<SlackAnswer<{ saysOk: boolean }>> {
  let refusal: SlackRefusal | undefined;
  try {
    const { origin, pathname, search } = new URL(url.reveal());
    // Three times cheaper than `fetch`. Follows no redirect, which counts as a refusal.
    const answer = await agent.request({
      origin,
      path: `${pathname}${search}`,
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'vps-slack' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await answer.body.text();
    refusal = readReplyRefusal(answer.statusCode, text);
    if (!refusal) return { ok: true, saysOk: saysOk(text) };
  } catch (error) {
    refusal = readRefusal(error);
  }
  refused('response_url', refusal);
  return { ok: false, error: refusal.code };
}

/** The bot tokens. Only a workspace that has one is served. */
export interface TokenSource extends Installations {
  find(workspaceId: WorkspaceId): Promise<BotToken | undefined>;
}

export interface SlackClients {
  /** Returns the client of a workspace; its calls fail with `not_installed` if there is no token. */
  of(workspaceId: WorkspaceId): SlackApi;
}

/** How many clients are kept. One holds no connection, so making it again costs only the look-up of its token. */
const MOST_CLIENTS = 1000;

/** Creates the clients, each when it is first needed. `watch` is called with each of their answers. */
export function createSlackClients(
  open: SlackConnections['open'],
  tokens: TokenSource,
  watch: (workspaceId: WorkspaceId, seen: SeenAnswer) => void = () => undefined,
): SlackClients {
  const clients = new LRUCache<WorkspaceId, SlackApi>({ max: MOST_CLIENTS });
  return {
    of: (workspaceId) => {
      const known = clients.get(workspaceId);
      if (known) return known;
      const opened = open(
        () => tokens.find(workspaceId),
        (seen) => watch(workspaceId, seen),
      );
      clients.set(workspaceId, opened);
      return opened;
    },
  };
}

/** Longer than any call to Slack. If one seems longer, the process froze or the clock was set: the answer's age is unknown. */
const LONGEST_CALL_MS = 10_000;

export type SlackClock = ReturnType<typeof createSlackClock>;

/** Creates Slack's clock, by which messages carry their time: the machine's clock may be minutes off. */
export function createSlackClock(system: System) {
  let aheadMs: number | undefined;
  return {
    /** Sets the clock by the `Date` header of an answer that just arrived; `askedAt`: when the call was made. */
    noteAnswer: (date: string | null, askedAt: number): void => {
      const at = Date.parse(date ?? '');
      const isNew = Math.abs(system.now() - askedAt) < LONGEST_CALL_MS;
      if (isNew && !Number.isNaN(at)) aheadMs = at - system.now();
    },
    /** Sets the clock forward to the time at which Slack signed a request: a lower bound, since requests may be delayed. */
    noteRequest: (signedAt: number): void => {
      const leastMs = signedAt - system.now();
      aheadMs = Math.max(aheadMs ?? leastMs, leastMs);
    },
    /** Returns the time by Slack's clock, or by the machine's until Slack's is known, in epoch milliseconds. */
    now: () => system.now() + (aheadMs ?? 0),
    /** Warns the operator, in one sentence, if the machine's clock is off by a minute or more. */
    warnings: (): readonly string[] => {
      const offMs = aheadMs ?? 0;
      if (Math.abs(offMs) < MINUTE_MS) return [];
      const minutes = Math.round(Math.abs(offMs) / MINUTE_MS);
      const off = `${minutes} min ${offMs > 0 ? 'behind' : 'ahead of'} Slack’s`;
      return [`the app’s clock is ${off}: set the time on its machine (with PostgreSQL, on the database’s)`];
    },
  };
}
