import type { AuditEntry, StoredEntry } from '../../domain/audit-entry.ts';
import { describeMoney } from '../../domain/money.ts';
import { escapeText, mention } from '../kit/text.ts';
import { findActionWords } from './action-words.ts';
import { describeSubject } from './audit-subject.ts';
import { describeCode } from './code-words.ts';

/** What an entry says about an action. */
export type Act = Pick<
  StoredEntry,
  'actorId' | 'channelId' | 'action' | 'outcome' | 'code' | 'label' | 'serverId' | 'money'
>;

/** "@olga rebooted `web-1` in #ops", "@olga couldn't start `nope` in #ops: no such server": in escaped mrkdwn. */
export function describeAct(act: Act, currency: string): string {
  const price = act.money === undefined ? '' : ` (${escapeText(describeMoney(act.money, currency))})`;
  return sentenceOf(act, `${describeSubject(act)}${price}`);
}

/** The same about a server that everything around it names. */
export function describeActOnIt(act: Pick<Act, 'actorId' | 'action' | 'outcome'>): string {
  return sentenceOf(act, 'it');
}

type Told = Pick<StoredEntry, 'actorId' | 'channelId' | 'action' | 'outcome' | 'code' | 'label'>;

function sentenceOf(act: Told, subject: string): string {
  const place = act.channelId === undefined ? '' : ` in <#${act.channelId}>`;
  const special = findSpecialWords(act, subject, place);
  if (special !== undefined) return special;
  const words = findActionWords(act.action);
  const put = (text: string) => text.replace('%', () => subject);
  const base = words ? put(words.base) : `do \`${escapeText(act.action)}\``;
  const did = words ? put(words.did) : `did \`${escapeText(act.action)}\``;
  const say = findOutcomeWords(act.outcome);
  return say({ who: describeActor(act.actorId), base, did, place, why: whyOf(act) });
}

interface Parts {
  readonly who: string;
  readonly base: string;
  readonly did: string;
  /** " in #ops", or nothing. */
  readonly place: string;
  /** ": no such server", or nothing. */
  readonly why: string;
}

/** An outcome without words does not compile. */
const OUTCOMES: Readonly<Record<AuditEntry['outcome'], (parts: Parts) => string>> = {
  started: ({ who, base, place }) => `${who} tried to ${base}${place}; no outcome is recorded yet`,
  done: ({ who, did, place }) => `${who} ${did}${place}`,
  failed: ({ who, base, place, why }) => `${who} couldn’t ${base}${place}${why}`,
  denied: ({ who, base, place, why }) => `${who} tried to ${base}${place} and was denied${why}`,
  in_doubt: ({ who, base, place, why }) =>
    `${who} tried to ${base}${place}; the outcome is unconfirmed${why}`,
};

/** One that another version of the app has written says no more than that something was tried. */
function findOutcomeWords(outcome: string): (parts: Parts) => string {
  const known: Readonly<Record<string, (parts: Parts) => string>> = OUTCOMES;
  const words = Object.hasOwn(known, outcome) ? known[outcome] : undefined;
  return (
    words ??
    (({ who, base, place, why }) =>
      `${who} tried to ${base}${place}: \`${escapeText(outcome.replaceAll('_', ' '))}\`${why}`)
  );
}

function whyOf({ code }: Told): string {
  return code === undefined ? '' : `: ${escapeText(describeCode(code))}`;
}

/** Where the outcome and the code together say something that the action's own words don't. */
function findSpecialWords(told: Told, subject: string, place: string): string | undefined {
  const who = describeActor(told.actorId);
  switch (told.action) {
    case 'create':
    case 'renew':
      return findOrderWords(told, who, subject, place);
    case 'approval_answer':
    case 'access_answer':
      return findAnswerWords(told, who, subject, place);
    default:
      return undefined;
  }
}

function findOrderWords({ action, outcome, code }: Told, who: string, subject: string, place: string) {
  const done = action === 'create' ? 'created' : 'renewed';
  if (code === 'decided')
    return `${who} decided that ${subject} was ${outcome === 'done' ? '' : 'not '}${done}${place}`;
  return code === 'found_late' ? `${who} ${done} ${subject}${place}; it was found later` : undefined;
}

function findAnswerWords(
  { action, outcome, code = '', label }: Told,
  who: string,
  subject: string,
  place: string,
): string | undefined {
  if (outcome === 'done') {
    const isDeclined = action === 'access_answer' ? label?.startsWith('deny ') : code === 'denied';
    return `${who} ${isDeclined ? 'declined' : 'approved'} ${subject}${place}`;
  }
  if (outcome !== 'failed') return undefined;
  if (code === 'expired') return `${capitalized(subject)}${place} expired`;
  if (action === 'access_answer' || !CANCELED.includes(code)) return undefined;
  return `${capitalized(subject)}${place} was canceled: ${describeCanceled(code)}`;
}

/** Codes with which an answer ends the request itself; any other one is about the answer. */
const CANCELED = [
  'role_needed',
  'account_changed',
  'unknown_server',
  'server_protected',
  'label_differs',
  'already_renewed',
  'unknown_choice',
  'price_moved',
  'over_budget',
  'stale_confirmation',
  'restored',
];

function describeCanceled(code: string): string {
  return code === 'role_needed' ? 'its requester no longer has permission' : describeCode(code);
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The app itself and the command line are no users who could be mentioned. */
export function describeActor(actorId: string): string {
  if (/^[UW][A-Z0-9]+$/.test(actorId)) return mention(actorId);
  return actorId === 'app' ? 'The app' : `The ${escapeText(actorId)}`;
}
