import type { ServerCard } from '../app/servers/show-server.ts';
import { HostingError, isRefusal, Refusal } from '../domain/errors.ts';
import { unmatchedWords } from '../domain/part-of-list.ts';
import type { PowerAction, Server } from '../domain/server.ts';
import { describeTable, plainText } from './plain-text.ts';

export const VERBS: Readonly<Record<PowerAction, { title: string; past: string; present: string }>> = {
  start: { title: 'Start', past: 'started', present: 'starting' },
  stop: { title: 'Stop', past: 'stopped', present: 'stopping' },
  reboot: { title: 'Reboot', past: 'rebooted', present: 'rebooting' },
};

/** A server as JSON: nothing in it is secret. */
export function jsonOf({ id, label, state, ipv4, paidUntil }: Server) {
  return {
    id,
    label,
    state,
    ipv4: ipv4 ?? null,
    paidUntil: paidUntil === undefined ? null : new Date(paidUntil).toISOString(),
  };
}

export function describeServers(servers: readonly Server[]): string {
  if (servers.length === 0) return 'No servers match.';
  return describeTable([
    ['ID', 'LABEL', 'STATE', 'IPV4', 'PAID UNTIL'],
    ...servers.map((server) => [
      String(server.id),
      plainText(server.label),
      plainText(server.state),
      plainText(server.ipv4 ?? ''),
      dayOf(server),
    ]),
  ]);
}

export function describeCard({ server, protection }: ServerCard): string {
  return describeTable([
    ['Label', plainText(server.label)],
    ['ID', String(server.id)],
    ['State', plainText(server.state)],
    ['IPv4', plainText(server.ipv4 ?? '')],
    ['Paid until', dayOf(server)],
    ['Protected', protection ? `yes, by ${protection.protectedBy}` : 'no'],
  ]);
}

function dayOf({ paidUntil }: Server): string {
  return paidUntil === undefined
    ? '-'
    : `${new Date(paidUntil).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** What went wrong, in a sentence or two; undefined if this program has no words of its own for it. */
export function explain(error: unknown): string | undefined {
  if (error instanceof HostingError) return explainHosting(error);
  return error instanceof Refusal ? explainRefusal(error) : undefined;
}

function explainRefusal(error: Refusal): string | undefined {
  if (isRefusal(error, 'unknown_server')) {
    const { typed, nearest, near = [], extent } = error.details;
    const labels = nearest === undefined ? near.map(({ label }) => label) : [nearest];
    const hint = labels.length > 0 ? ` Nearest: ${labels.map(plainText).join(', ')}.` : '';
    const unmatched = unmatchedWords(typed, `"${plainText(typed)}"`, extent).replaceAll('’', "'");
    return `${unmatched}${hint} Nothing was changed.`;
  }
  if (isRefusal(error, 'ambiguous_server')) {
    const { typed, servers } = error.details;
    return `${servers.length} servers match "${plainText(typed)}". Nothing was changed. Use an ID:\n${describeServers(servers)}`;
  }
  if (isRefusal(error, 'server_protected')) {
    const { server, act, protectedBy } = error.details;
    return `${plainText(server.label)} is protected by ${protectedBy}, so it can't be ${act === 'delete' ? 'deleted' : VERBS[act].past}. An owner can lift the protection on its card in Slack.`;
  }
  if (isRefusal(error, 'no_api_key'))
    return 'This workspace has no API key. Set one with: npm run key -- set --workspace T…';
  if (isRefusal(error, 'key_unreadable'))
    return `The API key was encrypted with key "${error.details.keyId}", which is missing from ENCRYPTION_KEYS.`;
  if (isRefusal(error, 'waited_too_long'))
    return "The hosting API's rate limit is used up, so nothing was sent. Try again in a minute.";
  return undefined;
}

function explainHosting({ code, details }: HostingError): string {
  const { failed, state } = details;
  const what = failed
    ? `${plainText(failed.label)} was not ${failed.act === 'delete' ? 'deleted' : VERBS[failed.act].past}: `
    : '';
  if (code === 'wrong_state' && state !== undefined) return `${what}it is ${plainText(state)}.`;
  return `${what}${CAUSES[code] ?? `the hosting API refused (${code.replaceAll('_', ' ')})`}.`;
}

const CAUSES: Partial<Readonly<Record<HostingError['code'], string>>> = {
  unauthorized: 'the hosting API rejected the API key',
  not_allowed: "the hosting API isn't open for this account yet",
  not_found: 'the server is no longer in the hosting account',
  wrong_state: "the server's current state doesn't allow it",
  rate_limited: "the hosting API's rate limit is used up",
  not_sent: "the hosting API couldn't be reached, so nothing was sent",
  no_answer: "the hosting API didn't answer",
  unreadable_answer: "the hosting API's answer couldn't be read",
};
