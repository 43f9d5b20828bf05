import { z } from 'zod';

/** What came back from one call of Slack's Web API. */
export type Answer =
  | { readonly kind: 'accepted'; readonly body: unknown; readonly scopes: readonly string[] | undefined }
  | Refused
  | Unanswered;

/** Slack answered with `ok: false`. */
export interface Refused {
  readonly kind: 'refused';
  readonly code: string;
  readonly neededScope: string | undefined;
  readonly body: unknown;
}

/** There is no answer that can be read. */
export interface Unanswered {
  readonly kind: 'unanswered';
  readonly why: Why;
  /** The HTTP status where there is one, or how many seconds were waited for. */
  readonly number: number;
}

export type Why =
  | 'name_not_found'
  | 'connection_refused'
  | 'connection_lost'
  | 'timeout'
  | 'certificate'
  | 'network'
  | 'redirect'
  | 'not_slack'
  | 'server_error'
  | 'rate_limited';

/** An HTTP response, as far as it is looked at. */
export interface Page {
  readonly status: number;
  readonly text: string;
  readonly scopes: string | undefined;
}

const taken = z.object({ ok: z.literal(true) });
const refused = z.object({
  ok: z.literal(false),
  error: z.string().regex(/^[\w.:-]{1,80}$/),
  needed: z.string().optional().catch(undefined),
});

/** Reads a response of the Web API. Pages of proxies and sign-in portals are recognized as not from Slack. */
export function readAnswer({ status, text, scopes }: Page): Answer {
  const body = readJson(text);
  if (taken.safeParse(body).success && status === 200)
    return { kind: 'accepted', body, scopes: scopes?.split(',').map((scope) => scope.trim()) };
  const no = refused.safeParse(body).data;
  if (no) return { kind: 'refused', code: no.error, neededScope: no.needed, body };
  if (status >= 300 && status <= 399) return { kind: 'unanswered', why: 'redirect', number: status };
  return { kind: 'unanswered', why: status >= 500 ? 'server_error' : 'not_slack', number: status };
}

const failure = z.object({ code: z.string() });

const CODES: readonly (readonly [RegExp, Why])[] = [
  [/^(ENOTFOUND|EAI_AGAIN|EAI_FAIL)$/, 'name_not_found'],
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/, 'timeout'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET|HPE_\w+)$/, 'connection_lost'],
  [/CERT|^UNABLE_TO_|^ERR_TLS_|^ERR_SSL_|^EPROTO$/, 'certificate'],
];

/** Reads what the network failed with. Its text is never shown: it may repeat what was sent. */
export function readFailure(error: unknown): Why {
  const code = failure.safeParse(error).data?.code ?? '';
  return CODES.find(([pattern]) => pattern.test(code))?.[1] ?? 'network';
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
