import type { RequestEntry } from '../../../hosting/journal.ts';
import { readJson, textIn } from '../../../slack/json.ts';
import type { TrafficEntry } from '../../../slack/page-api.ts';
import type { TrafficKind } from '../state.ts';

export type Row = ReturnType<typeof slackRow> | ReturnType<typeof hostingRow>;

export function mergeTraffic(
  entries: readonly TrafficEntry[],
  requests: readonly RequestEntry[],
  kind: TrafficKind,
): readonly Row[] {
  const slack = kind === 'hosting' ? [] : entries.map(slackRow);
  const hosting = kind === 'slack' ? [] : requests.map(hostingRow);
  return [...slack, ...hosting].sort((one, other) => one.at - other.at);
}

function slackRow(entry: TrafficEntry) {
  const { id, at, from, what, tookMs, status, response } = entry;
  const code = findError(response);
  return {
    key: `slack ${id}`,
    /** Epoch milliseconds, on the real clock. */
    at,
    way: from === 'slack' ? ('to-app' as const) : ('to-slack' as const),
    what: maskText(what),
    tookMs,
    ending: status === null ? 'no response' : String(status),
    isBad: status === null || status >= 400 || code !== '',
    /** Why it was refused, in the words of the API that refused it; empty when it was not. */
    code,
    fault: '',
    entry,
  };
}

/** The error in an answer of the Web API, which refuses with status 200. */
function findError(response: string): string {
  return response.startsWith('{"ok":false') ? textIn(readJson(response), 'error') : '';
}

const ENDINGS: Readonly<Record<Exclude<RequestEntry['ending'], 'answered'>, string>> = {
  pending: '…',
  cut: 'cut off',
  hanging: 'hanging',
};

function hostingRow(request: RequestEntry) {
  const { id, realAtMs, method, path, ending, status, code, fault, durationMs } = request;
  const isLost = ending === 'cut' || ending === 'hanging';
  return {
    key: `hosting ${id}`,
    at: realAtMs,
    way: 'to-hosting' as const,
    what: `${method} ${path}`,
    /** null: it has not ended. */
    tookMs: durationMs === undefined ? null : Math.round(durationMs),
    ending: ending === 'answered' ? String(status ?? '') : ENDINGS[ending],
    isBad: isLost || (status ?? 0) >= 400,
    code: code ?? '',
    fault: fault ?? '',
    request,
  };
}

/** A body as a user reads it: JSON indented, forms one field per line, the JSON inside them indented, too. */
export function describeBody(body: string): string {
  const masked = maskText(body);
  const json = indent(masked);
  if (json !== undefined) return json;
  if (!/^[\w.-]+=/.test(masked)) return masked;
  return [...new URLSearchParams(masked)]
    .map(([name, value]) => {
      const inside = indent(value);
      return inside === undefined ? `${name}: ${value}` : `${name}:\n${inside}`;
    })
    .join('\n');
}

/** Indented JSON; undefined when the text is no object and no list. */
function indent(text: string): string | undefined {
  const json = /^\s*[[{]/.test(text) ? readJson(text) : undefined;
  return json === undefined ? undefined : JSON.stringify(json, null, 2);
}

/** API keys, and the links that take one, which every user of the sandbox would see. */
function maskText(text: string): string {
  return text.replace(/hk_[\w-]{6,}/g, '[masked]').replace(/(\/connect(?:\/|%2F))[\w-]{16,}/gi, '$1[masked]');
}
