import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { nameOfError } from '../core/errors.ts';
import type { ChannelId, UserId, WorkspaceId } from '../core/ids.ts';
import { HOUR_MS } from '../core/time.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import { LIMITS, type Message, type MessageBlock } from './kit/blocks.ts';
import { escapeText, readJson, shorten } from './kit/text.ts';
import type { SeenAnswer, SlackAnswer } from './slack-api.ts';

/** A refusal by Slack, in Slack's terms. Nothing in it repeats what was posted. */
export interface SlackRefusal {
  /** Slack's error code, or the name of the failure if Slack did not answer. */
  readonly code: string;
  readonly pointers: readonly string[];
  /** The scopes that the app lacks, separated by commas. */
  readonly neededScope?: string | undefined;
  /** How long until Slack accepts such calls again (429, `Retry-After`), in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

const platformError = z.object({
  data: z.object({
    error: z.string(),
    needed: z.string().optional().catch(undefined),
    response_metadata: z
      .object({ messages: z.array(z.string()).catch([]) })
      .optional()
      .catch(undefined),
  }),
});

/** The shape of the library's error for a 429; in seconds. */
const rateLimited = z.object({ retryAfter: z.number().min(0).max(3600) });

export function readRefusal(error: unknown): SlackRefusal {
  const limited = rateLimited.safeParse(error).data;
  if (limited) return { code: 'ratelimited', pointers: [], retryAfterMs: limited.retryAfter * 1000 };
  const answer = platformError.safeParse(error).data?.data;
  if (!answer) return { code: nameOfError(error), pointers: [] };
  const words = answer.response_metadata?.messages.join('\n') ?? '';
  return { code: answer.error, pointers: findPointers(words), neededScope: answer.needed };
}

/**
 * Reads the answer to a post to a `response_url`; undefined if Slack accepted the post. Slack documents no body, so any 2xx
 * counts, except for a refusal in JSON and for an HTML page, which comes from a proxy (docs/design.md 2.4).
 */
export function readReplyRefusal(status: number, text: string): SlackRefusal | undefined {
  const isTaken = status >= 200 && status <= 299 && !/^\s*</.test(text) && !saysNotOk(text);
  if (isTaken) return undefined;
  const otherwise = status === 200 ? 'not_ok' : `status_${status}`;
  return { code: codeIn(text) ?? otherwise, pointers: findPointers(text) };
}

function saysNotOk(text: string): boolean {
  // Slack's usual answer is a bare `ok`: throwing for each costs a fiftieth of the time of a long list.
  return /^\s*\{/.test(text) && refusingReply.safeParse(readJson(text)).success;
}

const refusingReply = z.object({ ok: z.literal(false) });

/** Whether the answer to a post to a `response_url` says `ok`. A root password counts as sent only then (docs/design.md 2.4). */
export function saysOk(text: string): boolean {
  return text.trim() === 'ok' || /^\s*\{\s*"ok"\s*:\s*true\b/.test(text);
}

/** Finds an error code in an answer. Never returns the answer itself, which may repeat what was posted. */
function codeIn(text: string): string | undefined {
  const code = /"error"\s*:\s*"([a-z_]{1,40})"/.exec(text)?.[1] ?? text.trim();
  return code !== 'ok' && /^[a-z_]{1,40}$/.test(code) ? code : undefined;
}

function findPointers(words: string): readonly string[] {
  return [...words.matchAll(/json-pointer:(\/[\w/-]{1,200})/g)].map(([, pointer = '']) => pointer);
}

const MOST_KINDS = 500;

export type LogRefusal = (method: string, refusal: SlackRefusal) => void;

/** Creates the log of what Slack refuses: warns once an hour for each method and code, and logs repetitions at debug level. */
export function createRefusalLog(log: Log, system: System): LogRefusal {
  const warnedAt = new LRUCache<string, number>({ max: MOST_KINDS });
  return (method, { code, pointers, neededScope }) => {
    const kind = `${method} ${code}`;
    const last = warnedAt.get(kind) ?? Number.NEGATIVE_INFINITY;
    const isNews = system.elapsed() - last >= HOUR_MS;
    if (isNews) warnedAt.set(kind, system.elapsed());
    log[isNews ? 'warn' : 'debug']('Slack refused a call', {
      method,
      code: mask(code),
      pointers: pointers.length === 0 ? undefined : pointers.slice(0, 10).join(' '),
      neededScope: neededScope === undefined ? undefined : mask(neededScope),
    });
  };
}

/** Returns a code or scope if it is short and plain; anything else might repeat what was posted. */
function mask(code: string): string {
  return /^[\w.:,-]{1,80}$/.test(code) ? code : 'unreadable';
}

/** Slack's codes for failures after which a message may have been posted (Slack, chat.postMessage). */
const UNSURE = ['internal_error', 'fatal_error', 'request_timeout', 'service_unavailable', 'unknown'];

/** Whether an error proves that nothing was posted: a code of Slack (lower case), not the name of a failed connection. */
export function isProven(error: string): boolean {
  return /^[a-z_]+$/.test(error) && !UNSURE.includes(error);
}

/**
 * Sends a message. If Slack refuses it, sends its `plainBlocks`; if Slack refuses the blocks again, sends the words alone. A
 * secret never becomes text, which notifications show.
 */
export async function withFallback<More>(
  message: Message,
  send: (text: string, blocks: MessageBlock[]) => Promise<SlackAnswer<More>>,
): Promise<SlackAnswer<More>> {
  const { text } = message;
  const first = await send(text, message.blocks);
  if (first.ok) return first;
  const second = message.plainBlocks ? await send(text, message.plainBlocks) : first;
  if (second.ok || !refusesBlocks(second.error) || holdsSecret(message)) return second;
  return send(plainText(message), []);
}

/** Whether an error is about blocks: `invalid_blocks`, `invalid_blocks_format`, `msg_blocks_too_long` and the like. */
function refusesBlocks(code: string): boolean {
  return /^(invalid|msg)_blocks/.test(code);
}

/** Whether a message has a secret: a root password is always in a preformatted block (docs/design.md 5.2). */
export function holdsSecret({ blocks }: Message): boolean {
  return blocks.some(({ type }) => type === 'rich_text');
}

/** Returns the words of a message in mrkdwn, without its buttons, cut to 3,000 characters. */
export function plainText(message: Message): string {
  const words = (message.plainBlocks ?? message.blocks).flatMap(wordsOf).filter((text) => text !== '');
  return shorten(words.length === 0 ? message.text : words.join('\n'), LIMITS.text);
}

function wordsOf(block: MessageBlock): string[] {
  switch (block.type) {
    case 'header':
      return [escapeText(block.text.text)];
    case 'section':
      return [block.text, ...(block.fields ?? [])].map((part) => (part ? inMrkdwn(part) : ''));
    case 'context':
      return block.elements.map((element) => ('text' in element ? inMrkdwn(element) : ''));
    default:
      return [];
  }
}

function inMrkdwn({ type, text }: { readonly type: string; readonly text: string }): string {
  return type === 'mrkdwn' ? text : escapeText(text);
}

export function refusesView(code: string): boolean {
  return code === 'invalid_arguments' || code === 'view_too_large' || refusesBlocks(code);
}

/** The scopes of manifest.yml, and what is lost without each (docs/slack.md). */
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

/** What the app does in Slack besides answering users, if its setup allows it, and the scopes for that. */
const SCOPES_OF = {
  direct_messages: ['chat:write'],
  announcements: ['chat:write'],
  user_lookups: ['users:read'],
  group_lookups: ['usergroups:read'],
  channel_lookups: ['channels:read', 'groups:read'],
} as const;
export type SlackAbility = keyof typeof SCOPES_OF;
export const SLACK_ABILITIES = Object.keys(SCOPES_OF) as readonly SlackAbility[];

/** Why Slack refuses an ability; `error` is Slack's code. */
export type SlackProblem =
  | { readonly code: 'messages_tab_disabled' }
  | { readonly code: 'missing_scope'; readonly scopes: readonly string[] }
  | { readonly code: 'token_refused'; readonly error: string }
  | { readonly code: 'restricted'; readonly error: string };

/** Slack's last answer about an ability; `untried` if there was none in the past hour. */
export type SeenAbility = 'works' | 'untried' | SlackProblem;

type SeenAbilities = Readonly<Record<SlackAbility, SeenAbility>>;

/** How long an observation counts: Slack doesn't say when the app's setup changes. */
const KNOWN_FOR_MS = HOUR_MS;

/** How many observations are kept: room for five abilities in each of a thousand workspaces. */
const MOST_OBSERVATIONS = 5000;

interface Observation {
  readonly state: 'works' | SlackProblem;
  readonly at: number;
  readonly channelId: string | undefined;
}

export type SlackAbilities = ReturnType<typeof createSlackAbilities>;

/** Learns from Slack's answers what Slack allows the app to do. In memory only. */
export function createSlackAbilities(system: System) {
  const observed = new LRUCache<string, Observation>({
    maxSize: MOST_OBSERVATIONS,
    sizeCalculation: () => 1,
  });
  const recent = (key: string): Observation | undefined => {
    const known = observed.get(key);
    return known && system.elapsed() - known.at < KNOWN_FOR_MS ? known : undefined;
  };
  return {
    watch: (workspaceId: WorkspaceId, seen: SeenAnswer): void => {
      const ability = abilityOf(seen);
      const state = ability && stateOf(ability, seen);
      if (state === undefined) return;
      const key = `${workspaceId} ${ability}`;
      if (ability === 'channel_lookups' && hidesProblem(recent(key), state, seen)) return;
      observed.set(key, { state, at: system.elapsed(), channelId: seen.channelId });
    },
    read: (workspaceId: WorkspaceId): SeenAbilities => {
      const see = (ability: SlackAbility) => recent(`${workspaceId} ${ability}`)?.state ?? 'untried';
      return Object.fromEntries(SLACK_ABILITIES.map((ability) => [ability, see(ability)])) as SeenAbilities;
    },
  };
}

/** Whether a success must not replace a known problem: public and private channels take a scope each. */
function hidesProblem(known: Observation | undefined, state: Observation['state'], seen: SeenAnswer) {
  return (
    known !== undefined && known.state !== 'works' && state === 'works' && known.channelId !== seen.channelId
  );
}

function abilityOf({ method, channelId = '', isAnnouncement }: SeenAnswer): SlackAbility | undefined {
  if (method === 'users.info') return 'user_lookups';
  if (method === 'usergroups.list') return 'group_lookups';
  if (method === 'conversations.info') return isChannel(channelId) ? 'channel_lookups' : undefined;
  if (method === 'response_url') return isAnnouncement ? 'announcements' : undefined;
  if (method.startsWith('chat.post') && /^[UWD]/.test(channelId)) return 'direct_messages';
  return method === 'chat.postMessage' && isChannel(channelId) ? 'announcements' : undefined;
}

/** Whether an ID is that of a channel, public or private, and not of a conversation with one user. */
export function isChannel(id: UserId | ChannelId): id is ChannelId {
  return /^[CG]/.test(id);
}

/** Reads an answer as the state of an ability; undefined if it says nothing about the app's setup, as in a short outage. */
function stateOf(
  ability: SlackAbility,
  { error, neededScope = '' }: SeenAnswer,
): Observation['state'] | undefined {
  if (error === undefined) return 'works';
  if (error === 'messages_tab_disabled') return { code: error };
  if (error === 'missing_scope') return { code: error, scopes: missingScopes(ability, neededScope) };
  if (isTokenRefused(error)) return { code: 'token_refused', error };
  return RESTRICTIONS.includes(error) ? { code: 'restricted', error } : undefined;
}

/** Lists the missing scopes of the manifest: Slack may also name others that would do as well. */
function missingScopes(ability: SlackAbility, needed: string): readonly string[] {
  const scopes: readonly string[] = SCOPES_OF[ability];
  const named = scopes.filter((scope) => needed.split(',').includes(scope));
  return named.length === 0 ? scopes : named;
}

/** Slack's codes for what admins don't allow the app, whatever its scopes. */
const RESTRICTIONS: readonly string[] = [
  'access_denied',
  'accesslimited',
  'ekm_access_denied',
  'enterprise_is_restricted',
  'no_permission',
  'not_allowed_token_type',
  'restricted_action',
  'team_access_not_granted',
  'two_factor_setup_required',
];

/** Slack's codes for a token that it refuses permanently. */
const TOKEN_ERRORS = ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired'];

export function isTokenRefused(error: string | undefined): boolean {
  return error !== undefined && TOKEN_ERRORS.includes(error);
}

/** Whether Slack refuses all direct messages of the app, because its Messages tab is off. */
export function lacksMessagesTab({ direct_messages }: SeenAbilities): boolean {
  return typeof direct_messages === 'object' && direct_messages.code === 'messages_tab_disabled';
}
