import type { AuditEntry, AuditedRole, StoredEntry } from '../core/audit-entry.ts';
import { describeMoney } from '../core/money.ts';
import { listChanges, type SettingName, type WorkspaceSettings, writeSettings } from '../core/settings.ts';
import { MINUTE_MS } from '../core/time.ts';
import { CANCEL_CODES } from '../requests/request.ts';
import { capital, codeLabel, escapeText, mention } from '../slack/kit/text.ts';
import { VERBS } from '../words.ts';

/** Describes an entry in escaped mrkdwn: "@olga rebooted `web-1` in #ops", "@olga couldn't start `nope` in #ops: no such server". */
export function describeAct(act: StoredEntry, currency: string): string {
  const price = act.money === undefined ? '' : ` (${escapeText(describeMoney(act.money, currency))})`;
  return sentenceOf(act, `${describeSubject(act)}${price}`);
}

/** Describes an entry about a server that the surrounding text names: "@olga rebooted it". */
export function describeActOnIt(act: StoredEntry): string {
  return sentenceOf(act, 'it');
}

/**
 * Describes where an action was done: "in #ops". Undefined if that isn't known: the forms and cards that are opened on Home have
 * the channel of the user's conversation with the app, like those of a direct message.
 */
export function describePlace({ channelId, surface }: StoredEntry): string | undefined {
  if (surface === 'home') return 'on Home';
  // The sentence begins with the workflow.
  if (surface === 'workflow') return undefined;
  if (surface === 'cli') return 'on the command line';
  if (channelId === undefined) return undefined;
  if (!channelId.startsWith('D')) return `in <#${channelId}>`;
  return surface === 'button' || surface === 'modal' ? undefined : 'in a direct message';
}

function sentenceOf(act: StoredEntry, subject: string): string {
  const where = describePlace(act);
  const place = where === undefined ? '' : ` ${where}`;
  const who = describeActor(act.actorId);
  const special = findOrderWords(act, who, subject, place) ?? findAnswerWords(act, who, subject, place);
  if (special !== undefined) return special;
  const named = Object.hasOwn(ACTION_WORDS, act.action) ? ACTION_WORDS[act.action] : undefined;
  const { did, base, what } = named ?? { did: 'used', base: 'use', what: `\`${escapeText(act.action)}\`` };
  const about = what.replace('%', () => subject);
  const why = act.code === undefined ? '' : `: ${escapeText(describeCode(act.code))}`;
  return OUTCOMES[act.outcome]({ who, base: `${base} ${about}`, did: `${did} ${about}`, place, why });
}

/** The words of an audited action: "rebooted" or "reboot", and then what it is about, with % for the server or role. */
interface ActionWords {
  /** Follows a name. */
  readonly did: string;
  /** Follows "couldn't" and "tried to". */
  readonly base: string;
  readonly what: string;
}

/** The words of the actions that have better ones than "used `list`". */
export const ACTION_WORDS: Readonly<Record<string, ActionWords>> = {
  show: { did: 'viewed', base: 'view', what: '%' },
  start: { did: 'started', base: 'start', what: '%' },
  stop: { did: 'stopped', base: 'stop', what: '%' },
  reboot: { did: 'rebooted', base: 'reboot', what: '%' },
  delete: { did: 'deleted', base: 'delete', what: '%' },
  protect: { did: 'protected', base: 'protect', what: '%' },
  unprotect: { did: 'lifted', base: 'lift', what: 'the protection on %' },
  note: { did: 'changed', base: 'change', what: 'the note on %' },
  create: { did: 'created', base: 'create', what: '%' },
  renew: { did: 'renewed', base: 'renew', what: '%' },
  confirm: { did: 'placed the order for', base: 'order', what: '%' },
  decide: { did: 'resolved', base: 'resolve', what: 'the unconfirmed order for %' },
  password: { did: 'viewed', base: 'view', what: 'the root password of %' },
  password_saved: { did: 'marked', base: 'mark', what: 'the root password of % as saved' },
  approval_ask: { did: 'requested', base: 'request', what: 'approval for %' },
  approval_answer: { did: 'answered', base: 'answer', what: '%' },
  approval_withdraw: { did: 'withdrew', base: 'withdraw', what: 'the request for %' },
  denial_reason: { did: 'gave', base: 'give', what: 'a reason for a denial' },
  access_grant: { did: 'granted', base: 'grant', what: '%' },
  access_revoke: { did: 'revoked', base: 'revoke', what: '%' },
  access_ask: { did: 'requested', base: 'request', what: '%' },
  access_answer: { did: 'answered', base: 'answer', what: '%' },
  access_withdraw: { did: 'withdrew', base: 'withdraw', what: 'a role request' },
  access_continue: { did: 'ran', base: 'run', what: 'the command that they had requested a role for' },
  access_ended: { did: 'ended', base: 'end', what: '%' },
  connect: { did: 'connected', base: 'connect', what: 'the hosting account' },
  connect_link: { did: 'requested', base: 'request', what: 'a connect link' },
  disconnect: { did: 'disconnected', base: 'disconnect', what: 'the hosting account' },
  key_rotate: { did: 'changed', base: 'change', what: 'the encryption key' },
  settings_change: { did: 'changed', base: 'change', what: '%' },
  audit_prune: { did: 'removed', base: 'remove', what: 'old audit entries' },
  install: { did: 'installed', base: 'install', what: 'the app' },
  uninstall: { did: 'erased', base: 'erase', what: 'the workspace’s data, after the app was uninstalled' },
  password_erased: {
    did: 'erased',
    base: 'erase',
    what: 'the root password of %, because the app was uninstalled',
  },
  restore: { did: 'marked', base: 'mark', what: 'the database as restored from a backup' },
  reminder_snooze: { did: 'snoozed', base: 'snooze', what: 'reminders for %' },
  reminder_end: { did: 'left', base: 'leave', what: '% to expire' },
  reminder_again: { did: 'turned', base: 'turn', what: 'on reminders for %' },
  workflow_keys: { did: 'viewed', base: 'view', what: 'the workflow keys' },
  workflow_key_issue: { did: 'issued', base: 'issue', what: 'the workflow key %' },
  workflow_key_revoke: { did: 'revoked', base: 'revoke', what: 'the workflow key %' },
  workflow_answer: { did: 'answered', base: 'answer', what: 'a workflow’s step for %' },
  workflow_cancel: { did: 'canceled', base: 'cancel', what: 'a workflow’s step for %' },
  renew_all: { did: 'renewed', base: 'renew', what: 'several servers' },
};

interface Parts {
  readonly who: string;
  readonly base: string;
  readonly did: string;
  /** " in #ops", or nothing. */
  readonly place: string;
  /** ": no such server", or nothing. */
  readonly why: string;
}

/** An outcome without a sentence doesn't compile. */
const OUTCOMES: Readonly<Record<AuditEntry['outcome'], (parts: Parts) => string>> = {
  started: ({ who, base, place }) => `${who} tried to ${base}${place}; no outcome is recorded yet`,
  done: ({ who, did, place }) => `${who} ${did}${place}`,
  failed: ({ who, base, place, why }) => `${who} couldn’t ${base}${place}${why}`,
  denied: ({ who, base, place, why }) => `${who} tried to ${base}${place} and was denied${why}`,
  in_doubt: ({ who, base, place, why }) =>
    `${who} tried to ${base}${place}; the outcome is unconfirmed${why}`,
};

/** The sentence for an order whose code means more than the action's own words. */
function findOrderWords({ action, outcome, code }: StoredEntry, who: string, subject: string, place: string) {
  if (action !== 'create' && action !== 'renew') return undefined;
  const done = VERBS[action].past;
  if (code === 'decided')
    return `${who} resolved the order for ${subject}${place}: ${outcome === 'done' ? '' : 'not '}${done}`;
  return code === 'found_late' ? `${who} ${done} ${subject}${place}; we found out later` : undefined;
}

/** The sentence for an answer that says more than that there was one. */
function findAnswerWords(
  { action, outcome, code = '', details }: StoredEntry,
  who: string,
  subject: string,
  place: string,
): string | undefined {
  if (action !== 'approval_answer' && action !== 'access_answer') return undefined;
  if (outcome === 'done') {
    const isDenied = code === 'denied' || (details?.kind === 'roles' && details.answer === 'deny');
    return `${who} ${isDenied ? 'denied' : 'approved'} ${subject}${place}`;
  }
  if (outcome !== 'failed') return undefined;
  if (code === 'expired') return `${capital(subject)}${place} expired`;
  // Any other code is about the answer alone.
  const isCanceled = action === 'approval_answer' && CANCEL_CODES.some((each) => each === code);
  if (!isCanceled) return undefined;
  const why = code === 'role_needed' ? 'its requester no longer has permission' : describeCode(code);
  return `${capital(subject)}${place} was canceled: ${why}`;
}

export function describeActor(actorId: string): string {
  if (/^[UW][A-Z0-9]+$/.test(actorId)) return mention(actorId);
  return actorId === 'app' ? 'The app' : `The ${escapeText(actorId)}`;
}

/** Describes in escaped mrkdwn what an entry is about: a server, a role, the settings. */
function describeSubject(entry: StoredEntry): string {
  const { action, details } = entry;
  if (details?.kind === 'every_role') return `every role of ${describeId(details.subjectId)}`;
  if (details?.kind === 'roles') {
    const say = ROLE_WORDS.get(action);
    const holderOf = ({ subjectId }: AuditedRole) =>
      subjectId === undefined ? 'someone' : describeId(subjectId);
    if (say) return details.roles.map((each) => say(holderOf(each), describeRole(each))).join(' and ');
  }
  if (details?.kind === 'settings') return 'the settings';
  const subject = describeLabel(entry);
  return action === 'approval_answer' ? `the approval request for ${subject}` : subject;
}

/** What an action on a role is about. Other actions don't name it. */
const ROLE_WORDS: ReadonlyMap<string, (holder: string, role: string) => string> = new Map([
  ['access_grant', (holder, role) => `${holder} the ${role}`],
  ['access_revoke', (holder, role) => `the ${role} of ${holder}`],
  ['access_ask', (_, role) => `the ${role}`],
  ['access_answer', (holder, role) => `${holder}’s request for the ${role}`],
  ['access_ended', (holder, role) => `the temporary ${role} of ${holder}`],
]);

/** What an action is about that is not about a server, where the entry doesn't say more. */
const NO_SERVER: ReadonlyMap<string, string> = new Map([
  ['access_grant', 'a role'],
  ['access_revoke', 'a role'],
  ['access_ask', 'a role'],
  ['access_ended', 'a role'],
  ['access_answer', 'a request'],
  ['settings_change', 'the settings'],
  ['workflow_key_issue', ''],
  ['workflow_key_revoke', ''],
]);

function describeLabel({ action, label = '', serverId }: StoredEntry): string {
  if (label !== '') return codeLabel(label, MOST_CHARACTERS);
  return NO_SERVER.get(action) ?? (serverId === undefined ? 'a server' : `server ${serverId}`);
}

/** Longer than the labels that this app accepts (docs/hosting-api.md 2.9). */
const MOST_CHARACTERS = 300;

/** "*operator* role for `web-*`, for 8 hours". */
function describeRole({ role, pattern, forMs }: AuditedRole): string {
  const servers = pattern === '' ? '' : ` for ${codeLabel(pattern, MOST_CHARACTERS)}`;
  const time = forMs ? `, for ${describeMinutes(Math.round(forMs / MINUTE_MS))}` : '';
  return `*${role}* role${servers}${time}`;
}

function describeMinutes(minutes: number): string {
  const [amount, noun] =
    minutes % 1440 === 0
      ? [minutes / 1440, 'day']
      : minutes % 60 === 0
        ? [minutes / 60, 'hour']
        : [minutes, 'minute'];
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

function describeId(id: string): string {
  if (id.startsWith('S')) return `<!subteam^${id}>`;
  return /^[CG]/.test(id) ? `<#${id}>` : mention(id);
}

/** Lists what an entry changed in the settings, one per line: "Deletions need approval: off → on". Empty for other entries. */
export function describeChanges({ details }: StoredEntry): string {
  if (details?.kind !== 'settings') return '';
  const lines = details.changes.map(({ name, before, after }) => {
    return `\n• ${SETTING_LABELS[name]}: ${describeValue(name, before)} → ${describeValue(name, after)}`;
  });
  return lines.join('');
}

function describeValue(name: SettingName, value: string | undefined, currency = ''): string {
  if (value === undefined) return NONE[name] ?? 'none';
  if (name === 'freeze') return `on (by ${mention(value.split(' ')[0] ?? '')})`;
  if (value === 'true') return 'on';
  if (value === 'false') return 'off';
  if (name === 'channel' || name === 'digest.channel') return `<#${value}>`;
  const isAmount = name === 'approval.createAbove' || name.startsWith('budget.');
  return escapeText(isAmount && currency ? `${value} ${currency}` : value);
}

const NONE: Partial<Readonly<Record<SettingName, string>>> = {
  freeze: 'off',
  channel: 'direct messages',
};

const SETTING_LABELS: Readonly<Record<SettingName, string>> = {
  freeze: 'Purchase freeze',
  announces: 'Announce changes',
  'approval.delete': 'Deletions need approval',
  'approval.renew': 'Renewals need approval',
  'approval.createAbove': 'Price above which new servers need approval',
  'budget.workspace': 'Monthly workspace budget',
  'budget.person': 'Monthly budget per person',
  channel: 'Approval requests go to',
  'digest.channel': 'Daily digest channel',
  'digest.hour': 'Hour of the daily digest',
  'digest.zone': 'Time zone of the daily digest',
  'digest.days': 'Days before the paid time ends',
};

/** Lists each setting that was changed, with its new value. */
export function savedWords(was: WorkspaceSettings, is: WorkspaceSettings, currency: string): string {
  const changes = listChanges(was, is).map(({ name }) => name);
  return changes.length === 0 ? 'Nothing was changed.' : settingLines(is, currency, changes);
}

export function settingLines(is: WorkspaceSettings, currency: string, names: readonly SettingName[]): string {
  const values = writeSettings(is);
  return (
    names
      // Without a digest, its other settings mean nothing.
      .filter((name) => is.digest !== undefined || !name.startsWith('digest.') || name === 'digest.channel')
      .map((name) => `• ${SETTING_LABELS[name]}: ${describeValue(name, values[name], currency)}`)
      .join('\n')
  );
}

/** The words of codes that don't speak for themselves, to follow a colon. */
const CODES: Readonly<Record<string, string>> = {
  // permission
  role_needed: 'no permission',
  other_organization: 'a member of another organization',
  identity_unknown: 'Slack didn’t confirm who it was',
  not_creator: 'not the creator of the server',
  unreadable_press: 'the button was out of date',
  not_requester: 'it was someone else’s request',
  beyond_request: 'it was more than requested',
  asked_before: 'an earlier request for it is open or was just denied',
  asked_enough: 'too many requests in the last hour',
  role_held: 'already has this role',
  grant_over: 'the role was already gone',
  // typed text
  unknown_server: 'no such server',
  ambiguous_server: 'several servers match',
  prefix_only: 'only the beginning of a label matched',
  password_awaited: 'the root password hadn’t arrived yet',
  rebooted_recently: 'it may have been rebooted moments before',
  server_protected: 'the server is protected',
  unknown_choice: 'no such plan, location or image',
  // money
  price_moved: 'the price has changed',
  order_in_doubt: 'an earlier order for it is unconfirmed',
  doubt_over: 'the order had already been resolved',
  stale_confirmation: 'the confirmation had expired',
  restored: 'the database was restored from a backup',
  list_incomplete: 'the list of servers may have been incomplete',
  order_unsaved: 'it couldn’t be saved',
  account_changed: 'the hosting account was reconnected',
  label_moved: 'the server’s label has changed',
  // password and key
  no_api_key: 'no hosting account is connected',
  key_unreadable: 'the encryption key is missing',
  key_missing: 'the encryption key is missing',
  // access
  last_owner: 'the last owner can’t be removed',
  owner_limited: 'owners always have access to every server',
  no_grantee: 'can’t have a role',
  request_over: 'the request was already closed',
  // workflows
  workflow_key_invalid: 'the workflow key doesn’t permit it',
  workflow_run_over: 'the workflow step was already answered',
  workflow_key_name: 'a workflow key has this name',
  // settings
  settings_moved: 'someone else had changed the settings',
  // the hosting API
  unauthorized: 'key rejected',
  not_allowed: 'the hosting account hasn’t been topped up yet',
  bad_request: 'the hosting API rejected the request',
  limit: 'the hosting account’s server limit is reached',
  not_created: 'the hosting company couldn’t create it',
  checking: 'the hosting company hasn’t confirmed it',
  not_found: 'no such server',
  wrong_state: 'the server’s state didn’t allow it',
  rate_limited: 'the hosting API’s rate limit was reached',
  no_answer: 'the hosting API didn’t answer',
  unreadable_answer: 'the hosting API’s answer couldn’t be read',
  not_sent: 'the hosting API couldn’t be reached in time',
  unknown_code: 'the hosting API returned an unknown error',
  // the process
  waited_too_long: 'waited too long for the rate limit',
  defect: 'unexpected error',
  // unconfirmed, and what became of it
  lost_account: 'another hosting account is connected',
  not_shown: 'Slack didn’t confirm that it was shown',
  // the audit itself
  changed: 'an entry was altered',
  removed: 'an entry was removed',
  head: 'the newest entry is missing',
};

/** Describes a code; one without words of its own as it is, without its underscores: "over budget". */
export function describeCode(code: string): string {
  return (Object.hasOwn(CODES, code) && CODES[code]) || code.replaceAll('_', ' ');
}
