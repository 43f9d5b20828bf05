import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { HOUR_MS } from '../core/time.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';

/** A refusal by Slack, in Slack's terms. Nothing in it repeats what was posted. */
export interface SlackRefusal {
  /** Slack's error code, or the name of the failure if Slack did not answer. */
  readonly code: string;
  /** JSON pointers to the parts that Slack objects to. */
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

/** Reads an error of Slack's library, or any other error, as a refusal. */
export function readRefusal(error: unknown): SlackRefusal {
  const limited = rateLimited.safeParse(error).data;
  if (limited) return { code: 'ratelimited', pointers: [], retryAfterMs: limited.retryAfter * 1000 };
  const answer = platformError.safeParse(error).data?.data;
  if (!answer) return { code: error instanceof Error ? error.name : 'unknown', pointers: [] };
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
  if (!/^\s*\{/.test(text)) return false;
  try {
    return JSON.parse(text)?.ok === false;
  } catch {
    return false;
  }
}

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

/** Logs a refusal of a call. */
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

/** Slack's codes for a trigger that has expired, after 3 s, or was used before. */
const EXPIRED = ['expired_trigger_id', 'exchanged_trigger_id', 'trigger_expired', 'trigger_exchanged'];

/** Reads an error of `views.open` or `views.update` as why a modal wasn't opened; `unanswered`: it may be open. */
export function whyNotOpened(error: string): 'too_late' | 'refused' | 'unanswered' {
  if (EXPIRED.includes(error)) return 'too_late';
  return isProven(error) ? 'refused' : 'unanswered';
}
