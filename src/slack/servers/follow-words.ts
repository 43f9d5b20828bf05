import type { KnownBlock } from '@slack/types';
import {
  FOLLOWED_ACTIONS,
  type FollowedAct,
  type FollowedServer,
  isPower,
} from '../../domain/followed-act.ts';
import type { UserId } from '../../domain/ids.ts';
import { isWhereLeads } from '../../domain/server-state.ts';
import { section } from '../kit/blocks.ts';
import { stateWords } from '../kit/server-state.ts';
import { codeLabel, count, escapeText, mention, shorten, slackDate } from '../kit/text.ts';
import { VERBS } from './verbs.ts';

/** How a followed action is put into words. `after`: how long the app waited in vain; absent while it is still following. */
export interface FollowWording extends Pick<FollowedAct, 'action' | 'isMeasured'> {
  readonly after?: string | undefined;
}

/** Each action in the forms that sentences need. */
const ACTS = {
  ...VERBS,
  create: { past: 'created', present: 'creating' },
  renew: { past: 'renewed', present: 'renewing' },
} as const;

export function pastOf(action: string): string {
  const known = FOLLOWED_ACTIONS.find((each) => each === action);
  return known ? ACTS[known].past : 'changed';
}

/** Whether the API already reports the state that a power action leads to, so that it can be called done. */
export function isReported({ state }: Pick<FollowedServer, 'state'>, action: FollowedAct['action']): boolean {
  return isPower(action) && state !== undefined && isWhereLeads(action, { state });
}

/** What the user did to one server, and the outcome, to follow the user's name. `approvedBy`: who approved it. */
export function actWords(server: FollowedServer, wording: FollowWording, approvedBy?: UserId): string {
  const approved = approvedBy === undefined ? '' : `, approved by ${mention(approvedBy)}`;
  const label = `${codeLabel(server.label)}${approved}`;
  const { past, present } = ACTS[wording.action];
  // Orders and deletions are followed only once they are done.
  const begun = isPower(wording.action) ? `was ${present}` : past;
  switch (server.standing) {
    case 'there':
      return `${past} ${label}${thereWords(server, wording)}`;
    case 'gone':
      return `${begun} ${label}. It’s no longer in the hosting account.`;
    case 'superseded':
      return `${begun} ${label}. ${supersededWords(server)}`;
    case 'unknown':
      return `${begun} ${label}. ${LOST}`;
    case 'waiting': {
      if (wording.after !== undefined)
        return `${lateStart(server, label, wording)} ${lateWords(server, wording, 'It’s')}`;
      if (isReported(server, wording.action)) return `${past} ${label}: ${stateOf(server)}`;
      return isPower(wording.action) ? `is ${present} ${label}…` : `${past} ${label}`;
    }
  }
}

/** The same with the server as the subject: for one of several, or in a message only to the actor. */
export function serverWords(server: FollowedServer, wording: FollowWording): string {
  const label = codeLabel(server.label, 40);
  switch (server.standing) {
    case 'there':
      if (wording.action === 'delete') return `${label} is gone.`;
      return `${label} is ${stateOf(server)}${secondsWords(server, wording)}.`;
    case 'gone':
      return `${label} is no longer in the hosting account.`;
    case 'superseded':
      return `${label} · ${supersededWords(server)}`;
    case 'unknown':
      return `${label} · ${LOST}`;
    case 'waiting':
      if (wording.after !== undefined) return lateWords(server, wording, `${label} is`);
      return `${label} is ${stateOf(server)}.`;
  }
}

const LOST = 'The hosting account was reconnected, so the app can no longer follow this.';

function thereWords(server: FollowedServer, wording: FollowWording): string {
  switch (wording.action) {
    case 'create':
      return sshWords(server);
    case 'renew':
      return server.paidUntil === undefined ? '' : `: paid until ${slackDate(server.paidUntil)}`;
    case 'delete':
      return '. It’s no longer in the hosting account.';
    default:
      return `: ${stateOf(server)}${secondsWords(server, wording)}`;
  }
}

/** Only a plain address becomes a command, since someone may paste it. */
function sshWords({ ipv4 = '' }: FollowedServer): string {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(ipv4)) return `. Ready: \`ssh root@${ipv4}\``;
  return `. Its address: \`${escapeText(shorten(ipv4, 60).replaceAll('`', ''))}\``;
}

/** The time counts as a duration only if the app saw the server change; otherwise it is just what the API reports. */
function secondsWords({ settledMs, hasChanged }: FollowedServer, { isMeasured }: FollowWording): string {
  const seconds = `${Math.max(1, Math.round((settledMs ?? 0) / 1000))} s`;
  const isTimed = isMeasured && settledMs !== undefined;
  if (hasChanged) return isTimed ? ` (${seconds})` : '';
  return isTimed ? ` (the API reports it, ${seconds})` : ' (the API reports it)';
}

function supersededWords({ superseded }: FollowedServer): string {
  if (!superseded) return 'Something else has been done to it since.';
  return `Superseded: ${mention(superseded.by)} ${pastOf(superseded.action)} it.`;
}

function lateStart(server: FollowedServer, label: string, { action }: FollowWording): string {
  const { past, present } = ACTS[action];
  const isDone = !isPower(action) || isReported(server, action);
  return `${isDone ? past : `is ${present}`} ${label}.`;
}

/** `name`: "It's" where the sentence before has named the server. */
function lateWords(server: FollowedServer, { action, after = '' }: FollowWording, name: string): string {
  const inVain = after === '' ? '' : ` after ${after}`;
  const isNamed = name === 'It’s';
  const label = codeLabel(server.label, 40);
  if (action === 'renew')
    return `The list of servers doesn’t show the new date${isNamed ? '' : ` of ${label}`}${inVain}.`;
  const whose = isNamed ? 'its state' : `the state of ${label}`;
  if (server.state === undefined) return `The hosting API hasn’t reported ${whose}${inVain}.`;
  return `${name} still ${action === 'delete' ? 'listed as ' : ''}${stateOf(server)}${inVain}.`;
}

/** What to do once the app has stopped waiting. */
export function lateStep(action: FollowedAct['action'], isAlone: boolean): string {
  const check = 'Check the hosting account’s page';
  if (!isPower(action)) return `${check}.`;
  return isAlone
    ? `${check}, or try again.`
    : `${check}, or run the command again for the ones that aren’t done.`;
}

function stateOf({ state = '' }: Pick<FollowedServer, 'state'>): string {
  return stateWords({ state });
}

/** Beyond this many, the sentence only counts them, and the list below names them. */
const MOST_NAMED = 6;

/** "stopped `web-1`, `web-2` and is stopping `db-1`": what hasn't arrived there yet isn't called done. */
export function severalActWords(
  servers: readonly FollowedServer[],
  action: FollowedAct['action'],
  be: 'is' | 'are',
): string {
  const { past, present } = ACTS[action];
  const labelsOf = (some: readonly FollowedServer[]) =>
    some.length > MOST_NAMED
      ? count(some.length, 'server')
      : some.map(({ label }) => codeLabel(label, 40)).join(', ');
  const isDone = (server: FollowedServer) => server.standing === 'there' || isReported(server, action);
  const there = servers.filter(isDone);
  const underway = servers.filter((server) => !isDone(server));
  return [
    ...(there.length > 0 ? [`${past} ${labelsOf(there)}`] : []),
    ...(underway.length > 0 ? [`${be} ${present} ${labelsOf(underway)}`] : []),
  ].join(' and ');
}

/** A section takes 3,000 characters, and each of a label's 40 may be five when it is escaped. */
const IN_A_SECTION = 7;

/** The state of each of several servers, one per line. */
export function serverLines(servers: readonly FollowedServer[], wording: FollowWording): KnownBlock[] {
  const lines = servers.map((server) => serverWords(server, wording));
  return Array.from({ length: Math.ceil(lines.length / IN_A_SECTION) }, (_, part) =>
    section(lines.slice(part * IN_A_SECTION, (part + 1) * IN_A_SECTION).join('\n')),
  );
}
