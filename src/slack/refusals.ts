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
const ALL_SCOPES = Object.keys(SCOPES) as readonly (keyof typeof SCOPES)[];

/** What Slack refused because of how the app is set up. */
export interface SetupProblem {
  /** The method of the Web API, or `response_url`. */
  readonly method: string;
  /** Slack's code. */
  readonly error: string;
  /** The scopes of the manifest that are missing. */
  readonly scopes: readonly (keyof typeof SCOPES)[];
}

/** How long a refusal counts: Slack doesn't say when the app's setup changes. */
const KNOWN_FOR_MS = HOUR_MS;

/** How many refusals are kept, of all workspaces. */
const MOST_PROBLEMS = 5000;

export type SetupProblems = ReturnType<typeof createSetupProblems>;

/** Remembers what Slack refused in the last hour because of the app's setup, until it takes the same call. In memory only. */
export function createSetupProblems(system: System) {
  const refused = new LRUCache<string, SetupProblem & { workspaceId: WorkspaceId; at: number }>({
    maxSize: MOST_PROBLEMS,
    sizeCalculation: () => 1,
  });
  return {
    watch: (workspaceId: WorkspaceId, seen: SeenAnswer): void => {
      const { method, error, neededScope = '' } = seen;
      const key = `${workspaceId} ${callOf(seen)}`;
      if (error === undefined) refused.delete(key);
      else if (isAboutSetup(error)) {
        // Slack may also name scopes that would do as well.
        const named = neededScope.split(',');
        const scopes = ALL_SCOPES.filter((scope) => named.includes(scope));
        refused.set(key, { workspaceId, method, error, scopes, at: system.elapsed() });
      }
    },
    read: (workspaceId: WorkspaceId): readonly SetupProblem[] =>
      [...refused.values()].filter(
        (each) => each.workspaceId === workspaceId && system.elapsed() - each.at < KNOWN_FOR_MS,
      ),
  };
}

/** What counts as the same call: any direct message, or look-up of users, since one setting allows them all; or a method in a channel. */
function callOf({ method, channelId = '' }: SeenAnswer): string {
  if (method.startsWith('chat.post') && channelId !== '' && !isChannel(channelId)) return 'direct message';
  return `${method.startsWith('users.') ? 'users' : method} ${channelId}`;
}

/** Whether an ID is that of a channel, public or private, and not of a conversation with one user. */
function isChannel(id: UserId | ChannelId): id is ChannelId {
  return /^[CG]/.test(id);
}

/** Whether an error is about the app's setup, and not a short outage, say. */
function isAboutSetup(error: string): boolean {
  return [MESSAGES_TAB, 'missing_scope', ...RESTRICTIONS].includes(error) || isTokenRefused(error);
}

/** Slack's code for a direct message to a user, while the app's Messages tab is off. */
export const MESSAGES_TAB = 'messages_tab_disabled';

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
