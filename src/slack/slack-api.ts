import type { HomeView, ModalView } from '@slack/types';
import { WebClient, type WebClientOptions } from '@slack/web-api';
import { LRUCache } from 'lru-cache';
import { Agent, fetch } from 'undici';
import type { z } from 'zod';
import type { Installations } from '../core/directory.ts';
import type { WorkspaceId } from '../core/ids.ts';
import type { Secret } from '../core/secret.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { Log } from '../log.ts';
import type { Card } from '../requests/decision.ts';
import type { System } from '../system.ts';
import { quietLogger } from './bolt.ts';
import { type Message, stampBlocks, stampView } from './kit/blocks.ts';
import { inTurn } from './outbox.ts';
import {
  card,
  foundChannel,
  foundGroups,
  foundUser,
  foundUsers,
  type Introduction,
  introduction,
  type MemberPage,
  memberPage,
  nothing,
  openedView,
} from './payloads.ts';
import { createRefusalLog, type RefusalLog, readRefusal, readReplyRefusal, saysOk } from './refusals.ts';

/** The few methods of Slack's Web API that are used. None throws: each says whether Slack took it, and why not. */
export interface SlackApi {
  whoAmI(): Promise<SlackAnswer<Introduction>>;
  openView(triggerId: string, view: ModalView): Promise<SlackAnswer<{ viewId: string }>>;
  updateView(viewId: string, view: ModalView): Promise<SlackAnswer>;
  /** Shows the Home tab to one user. */
  publishView(userId: string, view: HomeView): Promise<SlackAnswer>;
  /** `threadTs`: in that thread, which has to have a reply. */
  postEphemeral(channelId: string, userId: string, message: Message, threadTs?: string): Promise<SlackAnswer>;
  /** To a channel, one of its threads, or directly to a user by ID; the card names the channel that it stands in. */
  post(recipient: string, message: Message, threadTs?: string): Promise<SlackAnswer<Card>>;
  /** `isPatient` (default): waits and tries again where there were too many calls. */
  updateMessage(card: Card, message: Message, isPatient?: boolean): Promise<SlackAnswer>;
  findUser(userId: string): Promise<SlackAnswer<{ user: unknown }>>;
  /** One page of all users of the workspace: the first one, or the one that the cursor of the page before it names. */
  listUsers(page: { limit: number; cursor?: string }): Promise<SlackAnswer<{ page: unknown }>>;
  /** Disabled ones, too, each with its members. */
  listGroups(): Promise<SlackAnswer<{ groups: unknown }>>;
  findChannel(channelId: string): Promise<SlackAnswer<{ channel: unknown }>>;
  /** Completes an execution of our step in a workflow. */
  completeStep(executionId: string, outputs: Readonly<Record<string, string>>): Promise<SlackAnswer>;
  failStep(executionId: string, error: string): Promise<SlackAnswer>;
  /** One page of the members of a channel; an empty cursor follows the last one. */
  listMembers(channelId: string, cursor: string): Promise<SlackAnswer<MemberPage>>;
  /** Posts to a `response_url` (Slack, "Handling user interaction"). `saysOk`: Slack's answer says `ok`. */
  respond(
    url: Secret<string>,
    body: Readonly<Record<string, unknown>>,
  ): Promise<SlackAnswer<{ saysOk: boolean }>>;
}

/** What calls for a workspace are made with. */
interface BotToken {
  readonly token: Secret<string>;
  /** Named in every call: the token is for all workspaces of an organization. */
  readonly teamId?: string;
}

/** Finds the token that a call is made with; undefined where the app is not installed (any more). */
export type FindToken = () => Promise<BotToken | undefined>;

/** One answer of the Web API; `error` is absent when Slack took the call. */
export interface SeenAnswer {
  readonly method: string;
  readonly error?: string | undefined;
  /** To whom it was posted, or about what it was asked. */
  readonly channelId?: string | undefined;
  /** The scopes that Slack says are missing, separated by commas. */
  readonly neededScope?: string | undefined;
  /** Posted to a `response_url` for the whole channel. */
  readonly isAnnouncement?: boolean;
}

/** Learns from each answer how the app is set up in Slack. */
type SlackWatch = (seen: SeenAnswer) => void;

/** The connections to Slack, which the clients of all workspaces share. */
export interface SlackConnections {
  /** The Web API as that token opens it. */
  open(findToken: FindToken, watch?: SlackWatch): SlackApi;
  /** For other clients of Slack's libraries, which write into what they are given: made separately for each of them. */
  clientOptions(): WebClientOptions;
  /** Set by every answer of the Web API. */
  readonly clock: SlackClock;
  close(): Promise<void>;
}

export type SlackAnswer<More = unknown> =
  | ({ readonly ok: true } & More)
  | { readonly ok: false; readonly error: string; readonly retryAfterMs?: number | undefined };

/** A user waits: one try of 5 s, and no queue that holds everyone up when Slack limits us. */
const TIMEOUT_MS = 5000;

/** Opens no connection yet. */
export function createSlackConnections(options: {
  readonly apiUrl: string;
  readonly log: Log;
  readonly system: System;
}): SlackConnections {
  const refusals = createRefusalLog(options.log, options.system);
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
    open: (findToken, watch = () => undefined) => {
      const call = callerOf(findWebClient(findToken, connect), refusals, watch);
      return createSlackApi(call, agent, refusals, options.system, watch);
    },
    clientOptions,
    clock,
    close: () => agent.destroy(),
  };
}

interface FoundClient {
  readonly web: WebClient;
  /** What every call names besides its own arguments. */
  readonly place: { readonly team_id?: string };
}

/** A client of Slack's library keeps its token: a workspace whose token has changed gets a new client. */
function findWebClient(findToken: FindToken, connect: (token: Secret<string>) => WebClient) {
  let known: { readonly token: string; readonly web: WebClient } | undefined;
  return async (): Promise<FoundClient | undefined> => {
    const found = await findToken();
    if (!found) return undefined;
    const { token, teamId } = found;
    if (known?.token !== token.reveal()) known = { token: token.reveal(), web: connect(token) };
    return { web: known.web, place: { team_id: teamId } };
  };
}

function createSlackApi(
  call: Call,
  agent: Agent,
  refusals: RefusalLog,
  system: Pick<System, 'sleep'>,
  watch: SlackWatch,
): SlackApi {
  return {
    whoAmI: () => call('auth.test', {}, introduction),
    openView: (triggerId, view) => call('views.open', { trigger_id: triggerId, view }, openedView),
    updateView: (viewId, view) => call('views.update', { view_id: viewId, view }, nothing),
    publishView: (userId, view) => call('views.publish', { user_id: userId, view }, nothing),
    postEphemeral: (channel, user, { text, blocks }, threadTs) =>
      call('chat.postEphemeral', { channel, user, text, blocks, ...inThread(threadTs) }, nothing),
    post: (channel, { text, blocks }, threadTs) =>
      inTurn(system, () =>
        call('chat.postMessage', { channel, text, blocks, ...NO_UNFURLS, ...inThread(threadTs) }, card),
      ),
    updateMessage: ({ channelId: channel, ts }, { text, blocks }, isPatient = true) =>
      inTurn(system, () => call('chat.update', { channel, ts, text, blocks }, nothing), isPatient),
    findUser: (user) => call('users.info', { user }, foundUser),
    listUsers: (page) => call('users.list', { ...page }, foundUsers),
    listGroups: () => call('usergroups.list', { include_disabled: true, include_users: true }, foundGroups),
    findChannel: (channel) => call('conversations.info', { channel }, foundChannel),
    completeStep: (id, outputs) =>
      call('functions.completeSuccess', { function_execution_id: id, outputs }, nothing),
    failStep: (id, error) => call('functions.completeError', { function_execution_id: id, error }, nothing),
    listMembers: (channel, cursor) =>
      call('conversations.members', { channel, limit: 1000, ...(cursor && { cursor }) }, memberPage),
    respond: async (url, body) => {
      const answer = await respond(url, body, agent, refusals);
      const error = answer.ok ? undefined : answer.error;
      watch({ method: 'response_url', error, isAnnouncement: body.response_type === 'in_channel' });
      return answer;
    },
  };
}

const NO_UNFURLS = { unfurl_links: false, unfurl_media: false };
const inThread = (ts: string | undefined) => ({ thread_ts: ts });

type Call = ReturnType<typeof callerOf>;

function callerOf(findWeb: () => Promise<FoundClient | undefined>, refusals: RefusalLog, watch: SlackWatch) {
  return async <More>(
    method: string,
    body: Record<string, unknown>,
    answer: z.ZodType<More>,
  ): Promise<SlackAnswer<More>> => {
    const channelId = typeof body.channel === 'string' ? body.channel : undefined;
    try {
      const found = await findWeb();
      if (!found) return { ok: false, error: 'not_installed' };
      const answered = answer.parse(await found.web.apiCall(method, { ...found.place, ...body }));
      watch({ method, channelId });
      return { ok: true, ...answered };
    } catch (error) {
      const refusal = readRefusal(error);
      refusals.add(method, refusal);
      watch({ method, channelId, error: refusal.code, neededScope: refusal.neededScope });
      return { ok: false, error: refusal.code, retryAfterMs: refusal.retryAfterMs };
    }
  };
}

async function respond(
  url: Secret<string>,
  body: Readonly<Record<string, unknown>>,
  agent: Agent,
  refusals: RefusalLog,
): Promise<SlackAnswer<{ saysOk: boolean }>> {
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
    const refusal = readReplyRefusal(answer.statusCode, text);
    if (refusal === undefined) return { ok: true, saysOk: saysOk(text) };
    refusals.add('response_url', refusal);
    return { ok: false, error: refusal.code };
  } catch (error) {
    const refusal = readRefusal(error);
    refusals.add('response_url', refusal);
    return { ok: false, error: refusal.code };
  }
}

/** Where the bot tokens come from. Only a workspace that has one is served. */
export interface TokenSource extends Installations {
  /** Undefined where the app is not installed. */
  find(workspaceId: WorkspaceId): Promise<BotToken | undefined>;
  /** Whether the app is installed for the whole organization there; absent where it never is. */
  isOfOrganization?(workspaceId: WorkspaceId): Promise<boolean>;
}

/** Slack's Web API, as the app of each workspace may use it. */
export interface SlackClients {
  of(workspaceId: WorkspaceId): SlackApi;
}

/** A client holds no connection, so making one again costs nothing but a token lookup. */
const MOST_CLIENTS = 1000;

/** Makes a client for each workspace when it is first needed. */
export function createSlackClients(
  connections: Pick<SlackConnections, 'open'>,
  tokens: Pick<TokenSource, 'find' | 'isOfOrganization'>,
  watch: (workspaceId: WorkspaceId, seen: SeenAnswer) => void = () => undefined,
): SlackClients {
  const clients = new LRUCache<WorkspaceId, SlackApi>({ max: MOST_CLIENTS });
  return {
    of: (workspaceId) => {
      const known = clients.get(workspaceId);
      if (known) return known;
      const opened = connections.open(
        () => tokens.find(workspaceId),
        (seen) => watch(workspaceId, seen),
      );
      const { isOfOrganization } = tokens;
      const client = isOfOrganization
        ? stampedApi(opened, workspaceId, () => isOfOrganization(workspaceId))
        : opened;
      clients.set(workspaceId, client);
      return client;
    },
  };
}

/** The same API, whose messages and views name the workspace where the app is installed for a whole organization. */
function stampedApi(
  slack: SlackApi,
  workspaceId: WorkspaceId,
  isOfOrganization: () => Promise<boolean>,
): SlackApi {
  // No method throws, whatever the store does.
  const isStamped = () => isOfOrganization().catch(() => false);
  const stamped = async <Content extends { readonly blocks?: unknown }>(content: Content) =>
    (await isStamped()) ? { ...content, blocks: stampBlocks(content.blocks, workspaceId) } : content;
  const viewOf = async <View extends ModalView | HomeView>(view: View) =>
    (await isStamped()) ? stampView(view, workspaceId) : view;
  return {
    ...slack,
    openView: async (triggerId, view) => slack.openView(triggerId, await viewOf(view)),
    updateView: async (viewId, view) => slack.updateView(viewId, await viewOf(view)),
    publishView: async (userId, view) => slack.publishView(userId, await viewOf(view)),
    postEphemeral: async (channelId, userId, message, threadTs) =>
      slack.postEphemeral(channelId, userId, await stamped(message), threadTs),
    post: async (recipient, message, threadTs) => slack.post(recipient, await stamped(message), threadTs),
    updateMessage: async (at, message, isPatient) =>
      slack.updateMessage(at, await stamped(message), isPatient),
    respond: async (url, body) => slack.respond(url, await stamped(body)),
  };
}

/** Slack's clock, as far as we know it: messages carry its time, and our clock may be minutes off. */
export interface SlackClock {
  /** Takes the `Date` header of an answer that just arrived, and our time when the call was made. */
  noteAnswer(date: string | null, askedAt: number): void;
  /** Takes the time at which Slack signed a request. The request may have been delayed, so this is only a lower bound. */
  noteRequest(signedAt: number): void;
  /** Epoch milliseconds by Slack's clock, or by ours until Slack's is known. */
  now(): number;
  /** A sentence for the operator when our clock is off by a minute or more. */
  warnings(): readonly string[];
}

/** Calls to Slack end sooner. If one seems longer, the process froze or our clock was set, so the answer's age is unknown. */
const LONGEST_CALL_MS = 10_000;

export function createSlackClock(system: Pick<System, 'now'>): SlackClock {
  let aheadMs: number | undefined;
  return {
    noteAnswer: (date, askedAt) => {
      const at = Date.parse(date ?? '');
      const isNew = Math.abs(system.now() - askedAt) < LONGEST_CALL_MS;
      if (isNew && !Number.isNaN(at)) aheadMs = at - system.now();
    },
    noteRequest: (signedAt) => {
      const leastMs = signedAt - system.now();
      aheadMs = Math.max(aheadMs ?? leastMs, leastMs);
    },
    now: () => system.now() + (aheadMs ?? 0),
    warnings: () => {
      const offMs = aheadMs ?? 0;
      if (Math.abs(offMs) < MINUTE_MS) return [];
      const minutes = Math.round(Math.abs(offMs) / MINUTE_MS);
      const off = `${minutes} min ${offMs > 0 ? 'behind' : 'ahead of'} Slack’s`;
      return [`the app’s clock is ${off}: set the time on its machine (with PostgreSQL, on the database’s)`];
    },
  };
}
