import { type HostingCode, HostingError, type RefusalCode, type RefusalDetails } from '../domain/errors.ts';
import { describeMoney, type Money } from '../domain/money.ts';
import { describeRole } from './access/access-words.ts';
import { CLOSED_WORDS, EARLIER_WORDS } from './decisions/closed-words.ts';
import { codeLabel, codeTyped, count, escapeText, mention, slackDate } from './kit/text.ts';

/** Words for people, one entry for every code there is: the type demands it. All mrkdwn, all escaped. */
type HostingWords = Readonly<Record<HostingCode | 'unknown_code', string>>;
type RefusalWords = {
  readonly [Code in RefusalCode]: (details: RefusalDetails[Code], currency: string) => string;
};

const HOSTING: HostingWords = {
  unauthorized:
    'The hosting API does not accept the API key of this workspace. An owner can set a working one with `/vps connect`.',
  not_allowed:
    'The hosting API is not open for this account yet: it opens after the first top-up of the balance on the account page.',
  bad_request: 'The hosting API did not accept a value, perhaps the label: try a shorter or plainer one.',
  not_enough_balance:
    'The balance of the hosting account is too low. Top it up on the account page, then try again.',
  limit:
    'The hosting account has as many servers as it may have. Delete one, or ask the hosting company for more.',
  not_created: 'The server could not be created. The month’s charge is back on the balance.',
  checking: 'The hosting company has not confirmed yet: it will complete the server or return the charge.',
  not_found: 'There is no such server in the account any more.',
  wrong_state: 'That does not suit the state that the server is in now.',
  rate_limited: 'The hosting API is taking no more requests this minute. Try again in a minute.',
  no_answer: 'The hosting API did not answer.',
  unreadable_answer: 'The hosting API’s answer could not be read.',
  unknown_code: 'The hosting API answered with an error that is not in its document.',
  not_sent: 'The hosting API could not be reached; nothing was sent.',
};

const REFUSALS: RefusalWords = {
  role_needed: ({ needed, held, label, owners = [] }) => {
    const where = label === undefined ? '' : ` for ${codeLabel(label)}`;
    const others = label === undefined ? '' : ' for other servers';
    const instead = held === undefined ? ', and you have no role here yet' : `; you are *${held}*${others}`;
    const who =
      owners.length > 0
        ? `${owners.map(mention).join(', ')} can give it to you`
        : 'An owner can give it to you, such as an admin of this Slack workspace';
    return `This takes the role *${needed}*${where}${instead}. ${who}.${howToAsk(needed, label)}`;
  },
  other_organisation: ({ missingScope }) =>
    missingScope === undefined
      ? 'This app belongs to another organisation’s workspace, so you can’t use it from yours.'
      : `Slack says that you are at home in another workspace, and this app can’t see whether you are a member of this one, too: it lacks the scope \`${missingScope}\`. An admin can reinstall it with that scope. Until then, commands that you type here may work where buttons and forms don’t.`,
  other_workspace: () => 'This app is not set up for this workspace.',
  identity_unknown: ({ userId }) =>
    userId === undefined
      ? 'Slack could not say who you are just now, so nothing was done. Try again in a minute.'
      : `Slack could not say just now whether ${mention(userId)} may still do that, so nothing was done. Try again in a minute.`,
  not_creator: ({ label }) =>
    `Only the person who created ${codeLabel(label)} can see its root password, or erase it.`,
  already_handled: () => 'This very request was handled before; nothing was done again.',
  unreadable_press: () => 'This button or form is of an older version of the app. Run the command again.',

  unknown_command: ({ typed, nearest }) =>
    `There is no command ${codeTyped(typed)}.${nearest ? ` Did you mean \`/vps ${nearest}\`?` : ''} \`/vps help\` lists what you can do.`,
  bad_words: ({ problem, usage }) => `${escapeText(problem)}\nUsage: \`${escapeText(usage)}\``,
  unknown_server: ({ typed, nearest }) =>
    `There is no server ${codeTyped(typed)}.${nearest === undefined ? '' : ` Did you mean ${codeLabel(nearest)}?`}`,
  ambiguous_server: ({ typed, servers }) =>
    `${codeTyped(typed)} fits ${count(servers.length, 'server')}. Nothing was done; which one do you mean?`,
  label_differs: ({ label }) => `Nothing was deleted: to delete it, type exactly ${codeLabel(label, 150)}.`,
  unknown_choice: ({ field, typed, nearest }) =>
    `There is no ${field} ${codeTyped(typed)} in the catalog now.${nearest === undefined ? '' : ` Did you mean ${codeTyped(nearest)}?`}`,
  bad_label: ({ problem }) => `This label can’t be used: ${problem}.`,
  too_many_servers: ({ count: asked, most }) => `${asked} servers at once are too many; ${most} is the most.`,

  price_moved: ({ before, now }, currency) =>
    `The price has changed from ${describeMoney(before as Money, currency)} to ${describeMoney(now as Money, currency)} a month since you looked. Nothing was ordered and nothing was charged.`,
  already_renewed: ({ label, paidUntil }) =>
    `${codeLabel(label)} is paid until ${slackDate(paidUntil)} now: it was renewed since you looked. Nothing more was charged.`,
  paid_until_unknown: ({ label }) =>
    `The hosting API does not say until when ${codeLabel(label)} is paid, so nobody could tell afterwards whether a renewal had worked. Nothing was charged; renew it on the account page.`,
  create_in_doubt: ({ label }) =>
    `An earlier order of ${codeLabel(label)} is still in doubt. Nothing more was ordered: wait for its outcome, or choose another label.`,
  stale_confirmation: () =>
    'This confirmation was too old to be carried out. Nothing was ordered and nothing was charged.',
  account_changed: () =>
    'The hosting account was connected anew after this was confirmed, and it may be another one. Nothing was sent and nothing was charged.',
  label_moved: ({ before, now }) =>
    `The server has another label now: ${codeLabel(now)} instead of ${codeLabel(before)}. Nothing was charged.`,
  doubt_over: () => 'There is nothing to decide any more: this has been settled meanwhile.',

  no_password: ({ label }) =>
    `No root password is held${label ? ` for ${codeLabel(label)}` : ''}. It is kept only for a while, and erased once it was saved; the hosting API never shows it again.`,
  no_api_key: () => 'No hosting account is connected yet. An owner can do that with `/vps connect`.',
  key_unreadable: ({ keyId }) =>
    `What is stored was sealed with the encryption key ${codeTyped(keyId)}, which is missing from \`ENCRYPTION_KEYS\`. The operator can put it back; or connect the API key anew.`,
  link_unusable: ({ reason }) =>
    reason === 'expired'
      ? 'This link is too old: it works for ten minutes. Ask for a new one with /vps connect.'
      : 'This link has been used, or never existed. Ask for a new one with /vps connect.',
  no_public_url: () =>
    'The app has no public address (`PUBLIC_URL`), so it can’t show you a form. The operator can set the API key on the machine itself: `npm run key -- set --workspace …`.',
  owner_limited: () => 'An owner covers every server; a pattern goes with viewer, operator or manager.',
  no_grantee: ({ problem }) => NO_GRANTEE[problem],
  grant_over: () => 'That role has ended or was taken away already.',
  role_held: ({ role }) => `You have the role *${role}* there already. Run the command again.`,
  label_needed: ({ role }) =>
    `That server has no label, so nobody can have a role for it alone. \`/vps access ask ${role}\` asks for every server.`,
  asked_before: ({ at, state, againAt }) =>
    `You asked for that at ${slackDate(at)}${EARLIER_WORDS[state]}. You can ask again at ${slackDate(againAt)}.`,
  asked_enough: ({ wishes, againAt }) => {
    const asked = wishes.map((wish) => `${describeRole(wish)} (${slackDate(wish.at)})`);
    return `You have asked for several roles within the last hour, so the owners were not asked again: ${asked.join(', ')}. You can ask again at ${slackDate(againAt)}.`;
  },
  own_request: () => 'Nobody answers their own request: it takes somebody else.',
  request_over: ({ state, by }) => {
    const who = by === undefined ? '' : ` by ${mention(by)}`;
    return `${CLOSED_WORDS[state]}${who}. Nothing more was done.`;
  },
  approval_needed: () =>
    'Deleting takes a second person in this workspace now. Open the dialog again to ask for one; nothing was deleted.',
  not_approved: ({ reason }, currency) =>
    `${wordsOfCode(reason.code, reason.details, currency)} Nothing was approved: it stays open, and can be approved later.`,
  over_budget: ({ whose, spent, most, price }, currency) =>
    `That is more than the ${whose === 'person' ? 'budget of each person' : 'budget of this workspace'} allows: ${describeMoney(spent, currency)} of ${describeMoney(most, currency)} was spent this month, and ${price === undefined ? 'the price of this is not known here' : `this costs ${describeMoney(price, currency)}`}. Only what was paid with this app counts. Nothing was ordered and nothing was charged; an owner can change it with \`/vps settings\`.`,
  channel_unwritable: ({ reason }) =>
    reason === 'timeout'
      ? 'Slack did not say in time whether the app can write to that channel. Try again.'
      : `The app can’t write to that channel: ${UNWRITABLE[reason] ?? 'Slack refuses it'}. Invite it there first, or choose another one.`,
  settings_moved: () =>
    'Somebody else has changed these settings while your form was open, so nothing was saved. Open `/vps settings` again to see them as they are now.',
  last_owner: () => 'That would leave nobody who is an owner. Make somebody else an owner first.',
  waited_too_long: () =>
    'The hosting API’s limit of requests per minute kept this waiting for too long. Nothing was sent; try again in a minute.',
  shutting_down: () => 'The app is being restarted. Nothing was sent; try again in a moment.',
};

const NO_GRANTEE: Readonly<Record<RefusalDetails['no_grantee']['problem'], string>> = {
  bot: 'That is a bot: roles are for people.',
  deactivated: 'That person is deactivated in Slack.',
  stranger: 'That person is of another organisation, and nobody from there can have a role here.',
  unknown_user: 'Slack knows no such person here.',
  unknown_group:
    'Slack knows no such user group here. One that was made just now is seen within five minutes.',
  disabled_group: 'That user group is disabled in Slack, so it would open nothing.',
  no_user_scope:
    'The app can’t see who is a guest or from elsewhere, so a role for a group or a channel would open nothing: it lacks the scope `users:read`. The operator can add it and install the app again.',
  no_group_scope:
    'The app may not look into user groups, so a role for one would open nothing. The operator can add the scope `usergroups:read` and install the app anew.',
  slack_silent: 'Slack did not say just now which user groups there are. Try again in a minute.',
  unknown_channel:
    'The app can’t see that channel: it was deleted, or it is private. If it is private, invite the app first.',
  archived_channel: 'That channel is archived, so nobody can act there.',
};

const UNWRITABLE: Readonly<Record<string, string>> = {
  not_in_channel: 'it is no member of it',
  channel_not_found: 'it does not see it',
  is_archived: 'it is archived',
  channel_is_shared: 'other organizations read along in it',
  channel_unreadable:
    'it can’t see whether other organizations read along, which takes the scopes `channels:read` and `groups:read`',
};

/** Without the label it would ask for every server; one that can't be typed is asked for by the button. */
function howToAsk(role: string, label: string | undefined): string {
  if (label !== undefined && (label === '' || /[`"\p{Cc}]/u.test(label))) return '';
  const on = label === undefined ? '' : ` on ${/\s/.test(label) ? `"${label}"` : label}`;
  return ` \`/vps access ask ${role}${escapeText(on)}\` asks for it.`;
}

/** Says what happened to a person, in mrkdwn. */
export function wordsOfCode(code: string, details: object, currency: string): string {
  if (isRefusalCode(code)) {
    // The code picks both the words and the shape of its details.
    return (REFUSALS[code] as (details: object, currency: string) => string)(details, currency);
  }
  if (isHostingCode(code)) return HOSTING[code];
  return `Something unexpected happened (${escapeText(code)}).`;
}

/** Says what an expected error means. A read or a power action without an answer is told apart from a failed one. */
export function wordsOfError(error: { code: string; details: object }, currency: string): string {
  const words = wordsOfCode(error.code, error.details, currency);
  if (!(error instanceof HostingError)) return words;
  const { unknownCode, state } = error.details;
  if (state) return `${words} It is ${codeTyped(state)}.`;
  return unknownCode ? `${words} It said ${codeTyped(unknownCode)}.` : words;
}

function isRefusalCode(code: string): code is RefusalCode {
  return Object.hasOwn(REFUSALS, code);
}

function isHostingCode(code: string): code is keyof HostingWords {
  return Object.hasOwn(HOSTING, code);
}
