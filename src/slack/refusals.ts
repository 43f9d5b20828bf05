import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';

/** What Slack refused, in Slack's own terms. Nothing in it repeats what was posted. */
interface SlackRefusal {
  /** Slack's error code, or the name of the failure when Slack did not answer. */
  readonly code: string;
  /** JSON pointers to what Slack objects to. */
  readonly pointers: readonly string[];
  /** The scope that the app lacks. */
  readonly neededScope?: string | undefined;
  /** How long Slack wants to be left alone with such calls (429, `Retry-After`). */
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

/** Seconds; the library's error for a 429. */
const rateLimited = z.object({ retryAfter: z.number().min(0).max(3600) });

/** Reads what Slack's library throws. */
export function readRefusal(error: unknown): SlackRefusal {
  const limited = rateLimited.safeParse(error).data;
  if (limited) return { code: 'ratelimited', pointers: [], retryAfterMs: limited.retryAfter * 1000 };
  const answer = platformError.safeParse(error).data?.data;
  if (!answer) return { code: error instanceof Error ? error.name : 'unknown', pointers: [] };
  const words = answer.response_metadata?.messages.join('\n') ?? '';
  return { code: answer.error, pointers: findPointers(words), neededScope: answer.needed };
}

/**
 * Reads the answer to a post to a `response_url`; undefined when Slack accepted it. Slack documents no body, so any 2xx
 * counts, except for a refusal in JSON and for a page, which comes from a proxy.
 */
export function readReplyRefusal(status: number, text: string): SlackRefusal | undefined {
  const isTaken = status >= 200 && status <= 299 && !/^\s*</.test(text) && !saysNotOk(text);
  if (isTaken) return undefined;
  const otherwise = status === 200 ? 'not_ok' : `status_${status}`;
  return { code: codeIn(text) ?? otherwise, pointers: findPointers(text) };
}

function saysNotOk(text: string): boolean {
  try {
    return refusedReply.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}

const refusedReply = z.object({ ok: z.literal(false) });

/** Whether Slack's answer to such a post says `ok`. A root password counts as sent only then. */
export function saysOk(text: string): boolean {
  return text.trim() === 'ok' || /^\s*\{\s*"ok"\s*:\s*true\b/.test(text);
}

/** An error code out of an answer, never the answer itself: it may repeat what was posted. */
function codeIn(text: string): string | undefined {
  const code = /"error"\s*:\s*"([a-z_]{1,40})"/.exec(text)?.[1] ?? text.trim();
  return code !== 'ok' && /^[a-z_]{1,40}$/.test(code) ? code : undefined;
}

function findPointers(words: string): readonly string[] {
  return [...words.matchAll(/json-pointer:(\/[\w/-]{1,200})/g)].map(([, pointer = '']) => pointer);
}

/** Keeps operators informed of what Slack refuses, without filling the log. */
export interface RefusalLog {
  add(method: string, refusal: SlackRefusal): void;
}

const HOUR_MS = 3_600_000;
const MOST_KINDS = 500;

/** Warns once per kind (method and code) and hour; what repeats is logged at debug level. */
export function createRefusalLog(log: Log, system: System): RefusalLog {
  const warnedAt = new LRUCache<string, { readonly at: number }>({ max: MOST_KINDS });
  return {
    add: (method, { code, pointers, neededScope }) => {
      const kind = `${method} ${code}`;
      const last = warnedAt.get(kind);
      const fields = {
        method,
        code: mask(code),
        pointers: pointers.length === 0 ? undefined : pointers.slice(0, 10).join(' '),
        neededScope: neededScope === undefined ? undefined : mask(neededScope),
      };
      if (last && system.elapsed() - last.at < HOUR_MS) {
        log.debug('Slack refused a call', fields);
        return;
      }
      warnedAt.set(kind, { at: system.elapsed() });
      log.warn('Slack refused a call', fields);
    },
  };
}

/** Codes and scopes are short and plain; anything else might be text of ours. */
function mask(code: string): string {
  return /^[\w.:,-]{1,80}$/.test(code) ? code : 'unreadable';
}

/** Slack's codes for failures of its own, after which a message may have been posted (Slack, chat.postMessage). */
const UNSURE = ['internal_error', 'fatal_error', 'request_timeout', 'service_unavailable', 'unknown'];

/** Whether such an error proves that nothing was posted. Codes of Slack are in lower case; the names of failures of the connection are not. */
export function isProven(error: string): boolean {
  return /^[a-z_]+$/.test(error) && !UNSURE.includes(error);
}

/** A trigger expires after 3 s and works once; these are the errors about it. */
const EXPIRED = ['expired_trigger_id', 'exchanged_trigger_id', 'trigger_expired', 'trigger_exchanged'];

/** What an error of `views.open` or `views.update` says about the modal; `unanswered`: it may be open. */
export function whyNotOpened(error: string): 'too_late' | 'refused' | 'unanswered' {
  if (EXPIRED.includes(error)) return 'too_late';
  return isProven(error) ? 'refused' : 'unanswered';
}
