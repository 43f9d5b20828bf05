import { articleOf } from './access/words.ts';
import {
  describeReason,
  type FailedAct,
  type HostingCode,
  HostingError,
  type HostingErrorDetails,
  type Reason,
  type Refusal,
  type RefusalCode,
  type RefusalDetails,
  type ServerAct,
} from './core/errors.ts';
import { PART_OF_LIST, unmatchedWords } from './core/find-server.ts';
import { describeMoney, describeMonthly } from './core/money.ts';
import { findKeyNameOf, isCommandLine } from './core/roles.ts';
import { isTargetState, type RecentReboot } from './core/server.ts';
import type { ClosedState } from './requests/request.ts';
import type { RefusalWords } from './slack/kit/command.ts';
import { codeLabel, count, escapeText, mention, slackDate } from './slack/kit/text.ts';

const accessRefusalWords = {
  role_needed: (details) => `${describeNeed(details)} ${describeGranters(details)}`,
  other_organization: ({ missingScope }) =>
    missingScope === undefined
      ? 'This app belongs to another organization’s workspace, so you can’t use it.'
      : `Slack says your home workspace is a different one, and the app can’t check whether you’re also a member of this one (missing scope \`${missingScope}\`). Ask an admin to reinstall the app with that scope. Until then, commands that you type may work where buttons and forms don’t.`,
  identity_unknown: ({ userId }) =>
    userId === undefined
      ? 'Slack couldn’t confirm who you are, so nothing was done. Try again in a minute.'
      : `Slack couldn’t confirm whether ${mention(userId)} still has permission, so nothing was done. Try again in a minute.`,
  owner_limited: () =>
    'Owners always have access to every server. To limit a role to some servers, choose viewer, operator or manager.',
  no_grantee: ({ problem }) => NO_GRANTEE[problem],
  grant_over: () => 'This role has expired or was already revoked.',
  beyond_request: ({ role }) =>
    `You can approve the *${role}* role or a lower one, for these servers only. To grant more, use \`/vps access grant\`.`,
  role_held: ({ role }) => `You already have the *${role}* role. Run the command that you needed it for.`,
  asked_before: ({ at, state, againAt }) => {
    if (state === 'open')
      return `You requested this ${slackDate(at)}, and the owners haven’t answered yet. To withdraw it: \`/vps access withdraw\``;
    const what = state === 'denied' ? 'An owner denied this' : 'You requested this';
    return `${what} ${slackDate(at)}. You can ask again after ${slackDate(againAt)}.`;
  },
  asked_enough: () =>
    'You’ve sent several requests in the last hour, so this one wasn’t sent. Try again in an hour.',
  not_requester: ({ requesterId }) => `Only ${mention(requesterId)} can withdraw this request.`,
  no_open_request: () => 'You don’t have an open request for a role.',
  continuation_over: ({ command }) =>
    command === undefined
      ? 'This button has expired or isn’t yours. Please run the command again.'
      : `This button has expired. To run the command, type ${codeLabel(`/vps ${command}`)}.`,
  last_owner: () => 'This would leave the workspace without an owner. Make someone else an owner first.',
} satisfies Partial<RefusalWords>;

type Needed = RefusalDetails['role_needed'];

function describeNeed({ needed, held, label }: Needed): string {
  const what =
    label === undefined ? 'to do this' : label === '' ? 'for this server' : `for ${codeLabel(label)}`;
  if (held === undefined) return `You need the *${needed}* role ${what}. You don’t have a role yet.`;
  const elsewhere = label === undefined ? '' : ' for other servers';
  return `You need the *${needed}* role ${what}; you’re ${articleOf(held)} *${held}*${elsewhere}.`;
}

/** Says who can grant a role. For owner, only names the owners: the app doesn't suggest becoming one. */
function describeGranters({ needed, owners = [] }: Needed): string {
  const named = owners.map(mention).join(', ');
  if (needed === 'owner') return named === '' ? 'Ask an admin of this Slack workspace.' : `Ask ${named}.`;
  return named === '' ? 'An admin of this Slack workspace can grant it.' : `${named} can grant it.`;
}

const NO_GRANTEE: Readonly<Record<RefusalDetails['no_grantee']['problem'], string>> = {
  owner_channel:
    'A channel can’t be an owner: anyone who joins it would become one. Grant the owner role to users or a user group.',
  no_member:
    'Only active members and guests of this workspace can have roles. Bots, deactivated users and people from other organizations can’t.',
  unknown_group: 'Slack doesn’t know this user group. If it was just created, try again in five minutes.',
  disabled_group: 'This user group is disabled in Slack, so a role for it would have no effect.',
  no_user_scope:
    'The app can’t tell members from guests (missing scope `users:read`), so a role for a group or a channel would have no effect. Ask an admin to reinstall the app with that scope.',
  no_group_scope:
    'The app can’t read user groups (missing scope `usergroups:read`). Ask an admin to reinstall the app with that scope.',
  slack_silent: 'Slack didn’t answer, so the user group couldn’t be checked. Try again in a minute.',
  unknown_channel:
    'The app can’t see this channel: either it was deleted, or it’s private. If it’s private, invite the app first.',
  archived_channel: 'This channel is archived, so a role for it would have no effect.',
};

/** Says who froze purchases, and how that ends. Escaped mrkdwn. */
export function frozenWords({ frozenBy, since }: RefusalDetails['purchases_frozen']): string {
  return `Purchases are frozen (by ${mention(frozenBy)}, ${slackDate(since)}). Nothing can be bought or renewed until an owner lifts the freeze in \`/vps settings\`.`;
}

const accountRefusalWords = {
  other_workspace: () => 'This app isn’t set up for this workspace.',
  no_api_key: ({ owners = [], isOwner }) => {
    const words = 'No hosting account is connected.';
    if (isOwner) return `${words} Connect it with \`/vps connect\`.`;
    if (owners.length === 0) return `${words} An owner can connect it with \`/vps connect\`.`;
    return `${words} Ask ${owners.slice(0, 3).map(mention).join(' or ')} to connect it.`;
  },
  key_unreadable: ({ keyId }) =>
    `Stored data was encrypted with key ${codeLabel(keyId)}, which is missing from \`ENCRYPTION_KEYS\`. Your admin can restore the key, or an owner can reconnect with \`/vps connect\`.`,
  link_unusable: () =>
    'This link was already used, has expired or is incomplete. To get a new one, run `/vps connect` in Slack.',
  no_public_url: ({ workspaceId }) =>
    `This app has no public address (\`PUBLIC_URL\`), so it has no page where you could enter the API key. On the machine where the app runs, run ${codeLabel(`vps-slack key set --workspace ${workspaceId}`)} and enter the key there. The app can keep running.`,
  channel_unwritable: ({ reason }) =>
    reason === 'timeout'
      ? 'Slack didn’t answer in time, so we can’t tell whether the app can post in that channel. Try again.'
      : `The app can’t post in that channel. ${unpostableWords(reason)}`,
  settings_moved: () =>
    'Someone else changed the settings while your form was open, so nothing was saved. Run `/vps settings` again to see them as they are now.',
  purchases_frozen: (freeze) => `${frozenWords(freeze)} Nothing was ordered or charged.`,
} satisfies Partial<RefusalWords>;

const UNPOSTABLE: Readonly<Record<string, string>> = {
  not_in_channel: 'The app isn’t a member of the channel. Invite it there with `/invite`.',
  channel_not_found: 'The app can’t see the channel. Invite it there with `/invite`.',
  is_archived: 'The channel is archived.',
  channel_is_shared: 'The channel is shared with another organization.',
  channel_unreadable:
    'The app can’t tell whether other organizations are in the channel (missing scopes `channels:read` and `groups:read`).',
};

/** Says why the app can't post in a channel, by Slack's code or ours. */
export function unpostableWords(reason: string): string {
  return UNPOSTABLE[reason] ?? 'Slack refused the message.';
}

/** Why a request can no longer be answered or withdrawn. `by`: " by @olga", or ''. */
const CLOSED_WORDS: Readonly<Record<ClosedState, (by: string) => string>> = {
  approved: (by) => `This request was already approved${by}.`,
  denied: (by) => `This request was already denied${by}.`,
  withdrawn: (by) => `This request was withdrawn${by}.`,
  expired: () => 'This request has expired.',
  canceled: () => 'This request was canceled, because something has changed since.',
  unknown: () => 'This request no longer exists.',
};

const approvalRefusalWords = {
  approval_needed: () =>
    'Deletions now need a second manager’s approval, so nothing was deleted. Open the dialog again to request it.',
  own_request: () => 'You can’t approve your own request.',
  request_over: ({ state, by }) => CLOSED_WORDS[state](by === undefined ? '' : ` by ${mention(by)}`),
} satisfies Partial<RefusalWords>;

/** Says whose budget an order would exceed, what is spent and what it costs. Escaped mrkdwn. */
export function budgetWords(
  { whose, spent, most, price }: RefusalDetails['over_budget'],
  currency: string,
): string {
  const owner = whose === 'person' ? 'your' : 'the workspace’s';
  const used = `${escapeText(describeMoney(spent))} of ${escapeText(describeMoney(most, currency))} has been spent or ordered`;
  const cost =
    price === undefined
      ? 'we don’t know the price of this order'
      : `this order costs ${escapeText(describeMoney(price, currency))}`;
  return `This exceeds ${owner} monthly budget: ${used}, and ${cost}.`;
}

const purchaseRefusalWords = {
  unknown_choice: ({ field, typed, nearest }) =>
    `There’s no ${field} called ${codeLabel(typed)}.${nearest === undefined ? '' : ` Did you mean ${codeLabel(nearest)}?`}`,
  bad_label: ({ problem }) => `This label can’t be used: ${problem}.`,
  price_moved: ({ before, now }, currency) =>
    `The price changed from ${escapeText(describeMonthly(before, currency))} to ${escapeText(describeMonthly(now, currency))} while you were looking at this. Try again to review the new price.`,
  already_renewed: ({ label, paidUntil }) =>
    `${codeLabel(label)} was renewed while you were looking at this and is now paid until ${slackDate(paidUntil)}.`,
  paid_until_unknown: ({ label }) =>
    `The hosting API doesn’t report when the paid time of ${codeLabel(label)} ends, so we couldn’t verify a renewal. Renew ${codeLabel(label)} on the hosting account’s page.`,
  order_in_doubt: ({ label, kind }) =>
    kind === 'create'
      ? `An earlier order for ${codeLabel(label)} on this hosting account is still unconfirmed. Wait until it’s resolved, or choose another label.`
      : `An earlier renewal of ${codeLabel(label)} on this hosting account hasn’t been confirmed by the hosting API. Check its paid-until date on the hosting account’s page before you renew it again.`,
  label_taken: ({ label }) =>
    `A server called ${codeLabel(label)} has appeared since you reviewed the order. If you still want another server with this label, try again.`,
  list_incomplete: () => `${PART_OF_LIST} Nothing was done. Try again later.`,
  order_unsaved: () =>
    'We couldn’t save this. It may still go through, so don’t repeat it until you know the outcome. In a few minutes, check `/vps status`: it shows unconfirmed orders and open requests.',
  stale_confirmation: () => 'This confirmation has expired. Nothing was ordered or charged.',
  restored: () =>
    'The app’s database was restored from a backup after you opened this form, so we can’t tell whether you had already confirmed the order. Nothing was ordered this time. Check the hosting account’s page before you order again.',
  account_changed: () => 'The hosting account was reconnected after you confirmed, so nothing was done.',
  label_moved: ({ before, now }) =>
    `The server is now called ${codeLabel(now)} instead of ${codeLabel(before)}.`,
  doubt_over: () => 'This order has been resolved, so there’s nothing left to decide.',
  over_budget: (details, currency) =>
    `${budgetWords(details, currency)} Nothing was ordered or charged. An owner can change the budget with \`/vps settings\`.`,
  no_password: ({ label }) =>
    `There’s no stored root password${label ? ` for ${codeLabel(label)}` : ''}: it was saved or erased, it expired, or it was never stored. The hosting API can’t show it again.`,
  password_awaited: ({ label }) =>
    `We don’t have the root password of ${codeLabel(label)} yet. If the answer to your order arrives, you’ll get it.`,
  not_creator: ({ label }) =>
    `Only the person who created ${codeLabel(label)} can see or erase its root password.`,
} satisfies Partial<RefusalWords>;

const reminderRefusalWords = {
  snooze_too_late: ({ label }) =>
    `The paid time of ${codeLabel(label)} ends too soon to snooze its reminder. Renew it, or let it expire.`,
  nothing_to_renew: () =>
    'There’s nothing for you to renew right now. Servers that are already being renewed, snoozed or left to expire aren’t included.',
} satisfies Partial<RefusalWords>;

export const VERBS = {
  start: { title: 'Start', past: 'started', present: 'starting' },
  stop: { title: 'Stop', past: 'stopped', present: 'stopping' },
  reboot: { title: 'Reboot', past: 'rebooted', present: 'rebooting' },
  delete: { title: 'Delete', past: 'deleted', present: 'deleting' },
  create: { title: 'Create', past: 'created', present: 'creating' },
  renew: { title: 'Renew', past: 'renewed', present: 'renewing' },
} as const satisfies Readonly<Record<ServerAct | 'create' | 'renew', object>>;

/** Says which action was not carried out, on which server, why, and what to do. Only for proven failures. Escaped mrkdwn. */
export function failedWords(
  failed: FailedAct,
  code: HostingCode | 'unknown_code',
  details: HostingErrorDetails,
): string {
  if (code === 'wrong_state') return wrongStateWords(failed, details.state);
  const cause = OF_ORDERS.includes(code) ? REJECTED : wordsOfHosting({ code, details });
  return `${codeLabel(failed.label)} wasn’t ${VERBS[failed.act].past}: ${cause.charAt(0).toLowerCase()}${cause.slice(1)}`;
}

/** What these codes say of an order is not true of another act. */
const OF_ORDERS: readonly (HostingCode | 'unknown_code')[] = [
  'bad_request',
  'limit',
  'not_created',
  'checking',
];
export const REJECTED = 'The hosting API rejected the request.';

function wrongStateWords({ act, label: name, isPaidTimeOver }: FailedAct, state: string | undefined): string {
  const label = codeLabel(name);
  const { past } = VERBS[act];
  if (state === undefined) return `The hosting API says that ${label} can’t be ${past} in its current state.`;
  if (act !== 'delete' && act !== 'reboot' && isTargetState(act, { state }))
    return `${label} is already ${codeLabel(state)}, so it wasn’t ${past}.`;
  const next = isPaidTimeOver
    ? 'Its paid time has ended, which may be why. Renew it, then try again.'
    : nextIn(act, state);
  return `${label} is ${codeLabel(state)}, so it can’t be ${past}. ${next}`;
}

function nextIn(act: ServerAct, state: string): string {
  if (act === 'reboot' && isTargetState('stop', { state })) return 'Start the server instead.';
  return /ing$/.test(state) && state !== 'running'
    ? 'Try again in a moment.'
    : 'Check the server, then try again.';
}

const serverRefusalWords = {
  unknown_server: ({ typed, nearest, near = [], extent }) =>
    `${unmatchedWords(typed, codeLabel(typed), extent)}${suggestionWords(nearest === undefined ? near.map(({ label }) => label) : [nearest])}`,
  ambiguous_server: ({ typed, servers }) =>
    `${count(servers.length, 'server')} match ${codeLabel(typed)}. Which one? Nothing has been changed.`,
  label_differs: ({ label }) => `That doesn’t match, so nothing was deleted. Type ${codeLabel(label, 150)}.`,
  too_many_servers: ({ count: matching, most, action }) =>
    `${count(matching, 'server')} match, but you can ${action} only ${most} at once. Nothing has been changed. Name fewer servers.`,
  server_renamed: ({ before, now, action }) =>
    `${codeLabel(before)} is now called ${codeLabel(now)}, so it wasn’t ${VERBS[action].past}.`,
  server_protected: ({ server, act, protectedBy }) =>
    `${codeLabel(server.label)} is protected by ${mention(protectedBy)}, so it can’t be ${VERBS[act].past}. An owner can lift the protection on the server’s card.`,
  prefix_only: ({ typed, server, action }) =>
    `${codeLabel(typed)} is only the beginning of ${codeLabel(server.label)}. ${VERBS[action].title} ${codeLabel(server.label)}? Nothing has been changed.`,
  rebooted_recently: ({ server, ...reboot }) =>
    `${codeLabel(server.label)} ${reboot.isUnconfirmed ? '' : 'was '}${rebootedWords(reboot)}. Reboot it again?`,
} satisfies Partial<RefusalWords>;

/** "rebooted 40 s ago by @otto", or "may have been rebooted 40 s ago by @otto (not confirmed)" */
export function rebootedWords({ agoMs, rebootedBy, isUnconfirmed }: RecentReboot): string {
  const isUser = !isCommandLine(rebootedBy) && findKeyNameOf(rebootedBy) === undefined;
  const words = `rebooted ${Math.max(1, Math.round(agoMs / 1000))} s ago by ${isUser ? mention(rebootedBy) : `the ${escapeText(rebootedBy)}`}`;
  return isUnconfirmed ? `may have been ${words} (not confirmed)` : words;
}

const MOST_SUGGESTED = 3;

function suggestionWords(labels: readonly string[]): string {
  const [last = '', ...others] = labels
    .slice(0, MOST_SUGGESTED)
    .map((label) => codeLabel(label))
    .reverse();
  if (last === '') return '';
  const more = labels.length - MOST_SUGGESTED;
  if (more > 0) return ` Did you mean ${[...others.reverse(), last].join(', ')} or one of ${more} others?`;
  return ` Did you mean ${others.length > 0 ? `${others.reverse().join(', ')} or ` : ''}${last}?`;
}

const workflowRefusalWords = {
  workflow_key_invalid: () => 'The workflow’s key doesn’t permit this. Nothing was done.',
  workflow_key_name: ({ name }) =>
    `There’s already a workflow key called ${codeLabel(name)}. Choose another name.`,
  workflow_key_gone: () => 'This workflow key was already revoked.',
  workflow_run_over: () => 'This request was already answered or has expired. Nothing was done.',
} satisfies Partial<RefusalWords>;

/** The words of every refusal. A code without words doesn't compile. */
const REFUSALS: RefusalWords = {
  ...serverRefusalWords,
  ...purchaseRefusalWords,
  ...reminderRefusalWords,
  ...approvalRefusalWords,
  ...accessRefusalWords,
  ...accountRefusalWords,
  ...workflowRefusalWords,
  already_handled: () => 'This request was already handled.',
  unreadable_press: () => 'This button or form is out of date. Run the command again.',
  unknown_command: ({ typed, nearest, prefix }) =>
    `There’s no ${codeLabel(typed)} command.${nearest ? ` Did you mean \`${prefix}${nearest}\`?` : ''} \`${prefix}help\` shows what you can do.`,
  bad_words: ({ problem, usage }) => `${escapeText(problem)}\nUsage: \`${escapeText(usage)}\``,
  not_approved: ({ reason }, currency) =>
    `${wordsOfReason(reason, currency)} Nothing was approved. The request is still pending, so you can approve it later.`,
  too_many_waiting: () =>
    'Too many of your requests are waiting for the hosting API’s rate limit, so this one wasn’t sent. Try again in a minute.',
  waited_too_long: () =>
    'Your request waited too long for the hosting API’s rate limit, so nothing was sent. Try again in a minute.',
  shutting_down: () => 'The app is restarting, so nothing was sent. Try again in a moment.',
};

const HOSTING: Readonly<Record<HostingCode | 'unknown_code', string>> = {
  unauthorized:
    'The hosting API rejected the API key of this workspace. An owner can connect a working key with `/vps connect`.',
  not_allowed:
    'The hosting API isn’t open for this account yet. It opens after the first top-up on the hosting account’s page.',
  bad_request: `${REJECTED} Try a shorter or simpler label.`,
  not_enough_balance:
    'The hosting account’s balance is too low. Top it up on the hosting account’s page, then try again.',
  limit:
    'The hosting account has reached its server limit. Delete a server, or ask the hosting company for a higher limit.',
  not_created: 'The hosting company couldn’t create the server. The month’s charge is back on the balance.',
  checking:
    'The hosting company hasn’t confirmed the order yet: it will either create the server or return the charge.',
  not_found: 'The server is no longer in the hosting account.',
  wrong_state: 'The server’s current state doesn’t allow this.',
  rate_limited: 'The hosting API’s rate limit is used up. Try again in a minute.',
  no_answer: 'The hosting API didn’t answer.',
  unreadable_answer: 'The hosting API’s answer couldn’t be read.',
  unknown_code: 'The hosting API returned an unknown error.',
  not_sent: 'The hosting API couldn’t be reached in time, so nothing was sent.',
};

export function wordsOfRefusal<Code extends RefusalCode>(
  code: Code,
  details: RefusalDetails[Code],
  currency: string,
): string {
  return REFUSALS[code](details, currency);
}

/** Says what went wrong with the hosting API, with the server's state or the unknown code, if known. Escaped mrkdwn. */
export function wordsOfHosting({ code, details = {} }: HostingTrouble): string {
  const { unknownCode, state, status } = details;
  if (code === 'unreadable_answer' && status !== undefined && status >= 400)
    return `The hosting API returned an error (${status}).`;
  if (state) return `${HOSTING[code]} The server is ${codeLabel(state)}.`;
  return unknownCode ? `${HOSTING[code]} The error code is ${codeLabel(unknownCode)}.` : HOSTING[code];
}

/** A `HostingError`, or its stored code and details. */
export interface HostingTrouble {
  readonly code: HostingCode | 'unknown_code';
  readonly details?: HostingErrorDetails;
}

/** Says what an expected error means. Escaped mrkdwn. */
export function wordsOfError(error: HostingError | Refusal, currency: string): string {
  if (!(error instanceof HostingError)) return wordsOfRefusal(error.code, error.details, currency);
  const { code, details } = error;
  return details.failed ? failedWords(details.failed, code, details) : wordsOfHosting(error);
}

/** Says that the database can't be reached. `hasBegun`: whether the request may have done something; undefined if unknown. */
export function wordsOfUnreachable(hasBegun: boolean | undefined): string {
  const away = 'The app can’t reach its database right now';
  if (hasBegun === undefined) return `${away}. Try again in a minute.`;
  if (!hasBegun) return `${away}, so nothing was done. Try again in a minute.`;
  return `${away}, so it can’t tell whether this was done. It may still go through, so check \`/vps list\` or \`/vps status\` in a few minutes before you try again.`;
}

/** A reason that was stored: of the hosting API, or of one of the app's rules. */
export type StoredReason = HostingTrouble | Reason<RefusalDetails>;

/** Says what a stored reason means. Escaped mrkdwn. */
export function wordsOfReason(reason: StoredReason, currency: string): string {
  return isHosting(reason) ? wordsOfHosting(reason) : describeReason(REFUSALS, reason, currency);
}

/** Whether a reason is the hosting API's, or its client's. */
export function isHosting(reason: StoredReason): reason is HostingTrouble {
  return Object.hasOwn(HOSTING, reason.code);
}

/** Tells a user that their request waits for the rate limit. */
export const WAITING_WORDS =
  'We’ve hit the hosting API’s rate limit. Your request is queued and will run automatically. If its turn doesn’t come within 90 s, we won’t send it, and we’ll let you know.';
