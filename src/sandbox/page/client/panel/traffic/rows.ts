import type { PanelRequest } from '../../../../panel/panel-api.ts';
import type { TrafficEntry } from '../../../../slack/page-api.ts';
import { textIn } from '../../json.ts';
import type { Screen, TrafficKind } from '../../state/screen.ts';
import { maskText, parse } from './mask.ts';

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
} & ({ readonly entry: TrafficEntry } | { readonly request: PanelRequest });

/** Requests of both kinds in the order in which they were sent; without those that were cleared. */
export function mergeTraffic(
  entries: readonly TrafficEntry[],
  requests: readonly PanelRequest[],
  kind: TrafficKind,
  cleared: Screen['cleared'],
): readonly Row[] {
  const slack = kind === 'hosting' ? [] : afterClear(entries, cleared.slack).map(slackRow);
  const hosting = kind === 'slack' ? [] : afterClear(requests, cleared.hosting).map(hostingRow);
  return [...slack, ...hosting].sort((one, other) => one.at - other.at);
}

/** A restarted sandbox counts from one again: none of its requests are cleared. */
function afterClear<Each extends { readonly id: number }>(all: readonly Each[], upTo: number) {
  return (all.at(-1)?.id ?? 0) < upTo ? all : all.filter(({ id }) => id > upTo);
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

const ENDINGS: Readonly<Record<Exclude<PanelRequest['ending'], 'answered'>, string>> = {
  pending: '…',
  cut: 'cut off',
  hanging: 'hanging',
};

function hostingRow(request: PanelRequest): Row {
  const { id, at, method, path, ending, status, code, fault, tookMs } = request;
  const isLost = ending === 'cut' || ending === 'hanging';
  return {
    key: `hosting ${id}`,
    at,
    way: 'to-hosting',
    what: `${method} ${path}`,
    tookMs,
    ending: ending === 'answered' ? String(status ?? '') : ENDINGS[ending],
    isBad: isLost || (status ?? 0) >= 400,
    code: code ?? '',
    fault: fault ?? '',
    request,
  };
}
