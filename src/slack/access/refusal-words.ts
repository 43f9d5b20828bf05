import type { RefusalDetails } from '../../domain/errors.ts';
import { EARLIER_WORDS } from '../decisions/closed-words.ts';
import type { RefusalWords } from '../kit/refusal-words.ts';
import { codeLabel, escapeText, mention, slackDate } from '../kit/text.ts';
import { describeRole } from './access-words.ts';

/** What the refusals of roles and access requests say. */
export const accessRefusalWords = {
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
  identity_unknown: ({ userId }) =>
    userId === undefined
      ? 'Slack could not say who you are just now, so nothing was done. Try again in a minute.'
      : `Slack could not say just now whether ${mention(userId)} may still do that, so nothing was done. Try again in a minute.`,
  owner_limited: () => 'An owner covers every server; a pattern goes with viewer, operator or manager.',
  no_grantee: ({ problem }) => NO_GRANTEE[problem],
  grant_over: () => 'This role has expired or was already revoked.',
  grants_moved: () =>
    'Someone else changed roles at the same moment, so nothing was changed. Check `/vps access` and try again.',
  role_held: ({ role }) => `You have the role *${role}* there already. Run the command again.`,
  label_needed: ({ role }) =>
    `That server has no label, so nobody can have a role for it alone. \`/vps access ask ${role}\` asks for every server.`,
  asked_before: ({ at, state, againAt }) =>
    `You asked for that at ${slackDate(at)}${EARLIER_WORDS[state]}. You can ask again at ${slackDate(againAt)}.`,
  asked_enough: ({ wishes, againAt }) => {
    const asked = wishes.map((wish) => `${describeRole(wish)} (${slackDate(wish.at)})`);
    return `You have asked for several roles within the last hour, so the owners were not asked again: ${asked.join(', ')}. You can ask again at ${slackDate(againAt)}.`;
  },
  last_owner: () => 'That would leave nobody who is an owner. Make somebody else an owner first.',
} satisfies Partial<RefusalWords>;

const NO_GRANTEE: Readonly<Record<RefusalDetails['no_grantee']['problem'], string>> = {
  owner_channel:
    'A channel can’t be an owner: anyone who joins it would be one. Grant the owner role to users or a user group.',
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

/** Without the label it would ask for every server; one that can't be typed is asked for by the button. */
function howToAsk(role: string, label: string | undefined): string {
  if (label !== undefined && (label === '' || /[`"\p{Cc}]/u.test(label))) return '';
  const on = label === undefined ? '' : ` on ${/\s/.test(label) ? `"${label}"` : label}`;
  return ` \`/vps access ask ${role}${escapeText(on)}\` asks for it.`;
}
