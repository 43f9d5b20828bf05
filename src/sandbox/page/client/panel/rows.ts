import type { RequestEntry } from '../../../hosting/journal.ts';
import type { TrafficEntry } from '../../../slack/page-api.ts';
import { isJson, textIn } from '../json.ts';
import type { TrafficKind } from '../state.ts';

/** One request of either kind, as the list shows it. */
export type Row = {
  readonly key: string;
  /** Epoch milliseconds, on the real clock. */
  readonly at: number;
  readonly way: 'to-app' | 'to-slack' | 'to-hosting';
  readonly what: string;
  /** null: it has not ended. */
  readonly tookMs: number | null;
  /** "200", "no answer" … */
  readonly ending: string;
  readonly isBad: boolean;
  /** Why it was refused, in the words of the API that refused it; empty when it was not. */
  readonly code: string;
  /** The fault that affected it; empty for none. */
  readonly fault: string;
} & ({ readonly entry: TrafficEntry } | { readonly request: RequestEntry });

/** Requests of both kinds in the order in which they were sent. */
export function mergeTraffic(
  entries: readonly TrafficEntry[],
  requests: readonly RequestEntry[],
  kind: TrafficKind,
): readonly Row[] {
  const slack = kind === 'hosting' ? [] : entries.map(slackRow);
  const hosting = kind === 'slack' ? [] : requests.map(hostingRow);
  return [...slack, ...hosting].sort((one, other) => one.at - other.at);
}

function slackRow(entry: TrafficEntry): Row {
  const { id, at, from, what, tookMs, status, response } = entry;
  const code = findError(response);
  return {
    key: `slack ${id}`,
    at,
    way: from === 'slack' ? 'to-app' : 'to-slack',
    what: maskText(what),
    tookMs,
    ending: status === null ? 'no response' : String(status),
    isBad: status === null || status >= 400 || code !== '',
    code,
    fault: '',
    entry,
  };
}

/** The error in an answer of the Web API, which refuses with status 200. */
function findError(response: string): string {
  return response.startsWith('{"ok":false') ? textIn(parse(response), 'error') : '';
}

const ENDINGS: Readonly<Record<Exclude<RequestEntry['ending'], 'answered'>, string>> = {
  pending: '…',
  cut: 'cut off',
  hanging: 'hanging',
};

function hostingRow(request: RequestEntry): Row {
  const { id, realAtMs, method, path, ending, status, code, fault, durationMs } = request;
  const isLost = ending === 'cut' || ending === 'hanging';
  return {
    key: `hosting ${id}`,
    at: realAtMs,
    way: 'to-hosting',
    what: `${method} ${path}`,
    tookMs: durationMs === undefined ? null : Math.round(durationMs),
    ending: ending === 'answered' ? String(status ?? '') : ENDINGS[ending],
    isBad: isLost || (status ?? 0) >= 400,
    code: code ?? '',
    fault: fault ?? '',
    request,
  };
}

/**
 * A body as a user reads it: JSON indented, forms one field per line, the JSON inside them indented, too.
 * Secrets are masked.
 */
export function describeBody(body: string): string {
  const json = indent(body);
  if (json !== undefined) return json;
  if (!/^[\w.-]+=/.test(body)) return String(maskJson(body));
  return [...new URLSearchParams(body)]
    .map(([name, value]) => {
      const inside = indent(value);
      return inside === undefined ? `${name}: ${maskJson(value)}` : `${name}:\n${inside}`;
    })
    .join('\n');
}

/** Indented JSON; undefined when the text is no object and no list. */
function indent(text: string): string | undefined {
  const json = parse(text);
  return json === undefined ? undefined : JSON.stringify(maskJson(json), null, 2);
}

const MASKED = '[masked]';
const SECRET_BLOCK = 'rich_text_preformatted';
const LOOKS_LIKE_JSON = /^\s*[[{]/;

/**
 * A body of JSON without what only one user may see: apps show a root password in a preformatted block,
 * and every user of the sandbox sees the traffic.
 */
function maskJson(part: unknown): unknown {
  if (typeof part === 'string') return maskText(maskInside(part));
  if (Array.isArray(part)) return part.map(maskJson);
  if (!isJson(part)) return part;
  if (part.type === SECRET_BLOCK) return { type: SECRET_BLOCK, elements: [{ type: 'text', text: MASKED }] };
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, maskJson(value)]));
}

/** API keys, and the links that take one. */
function maskText(text: string): string {
  return text.replace(/hk_[\w-]{6,}/g, MASKED).replace(/(\/connect(?:\/|%2F))[\w-]{16,}/gi, `$1${MASKED}`);
}

/** A text that is JSON itself: Slack takes blocks and views in both ways. What can't be read can't be shown. */
function maskInside(text: string): string {
  if (!text.includes(SECRET_BLOCK)) return text;
  const inside = LOOKS_LIKE_JSON.test(text) ? parse(text) : undefined;
  return inside === undefined ? MASKED : JSON.stringify(maskJson(inside));
}

/** Reads JSON that is an object or a list; undefined when the text is neither. */
function parse(text: string): unknown {
  if (!LOOKS_LIKE_JSON.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
