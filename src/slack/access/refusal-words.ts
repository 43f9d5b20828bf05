import type { AccessRequestState } from '../../domain/decision.ts';
import type { RefusalDetails } from '../../domain/errors.ts';
import type { RefusalWords } from '../kit/refusal-words.ts';
import { codeLabel, codeTyped, count, mention, slackDate } from '../kit/text.ts';
import { articleOf, describeRole } from './access-words.ts';

/** What the refusals of roles and access requests say. */
export const accessRefusalWords = {
  role_needed: (details) => `${describeNeed(details)} ${describeGranters(details)}`,
  other_organization: ({ missingScope }) =>
    missingScope === undefined
      ? 'This app belongs to another organization’s workspace, so you can’t use it.'
      : `Slack says your home is another workspace, and the app can’t check whether you’re also a member of this one (missing scope \`${missingScope}\`). Ask an admin to reinstall the app with that scope. Until then, commands that you type may work where buttons and forms don’t.`,
  identity_unknown: ({ userId }) =>
    userId === undefined
      ? 'Slack couldn’t confirm who you are, so nothing was done. Try again in a minute.'
      : `Slack couldn’t confirm whether ${mention(userId)} still has permission, so nothing was done. Try again in a minute.`,
  owner_limited: () =>
    'Owners always have access to every server. To limit a role to some servers, choose viewer, operator or manager.',
  no_grantee: ({ problem }) => NO_GRANTEE[problem],
  grant_over: () => 'This role has expired or was already revoked.',
  grants_moved: () =>
    'Someone else changed roles at the same moment, so nothing was changed. Check `/vps access` and try again.',
  beyond_request: ({ role }) =>
    `You can approve ${articleOf(role)} *${role}* role at most, for the servers that were requested. To grant more, use \`/vps access grant\`.`,
  role_held: ({ role }) => `You already have the *${role}* role. Run the command again.`,
  label_needed: ({ role }) =>
    `This server has no label, so you can’t request a role for this server alone. To request one for every server: \`/vps access ask ${role}\``,
  asked_before: ({ at, state, againAt }) => ASKED_BEFORE[state](slackDate(at), slackDate(againAt)),
  asked_enough: ({ wishes, againAt }) => {
    const listed = wishes.map((wish) => `${describeRole(wish)} (${slackDate(wish.at)})`);
    return `You’ve sent ${count(wishes.length, 'request')} in the last hour: ${listed.join(', ')}. You can ask again after ${slackDate(againAt)}.`;
  },
  not_requester: ({ requesterId }) => `Only ${mention(requesterId)} can withdraw this request.`,
  no_open_request: () => 'You don’t have an open request for a role.',
  continuation_over: ({ command }) =>
    command === undefined
      ? 'This button has expired or isn’t yours. Please run the command again.'
      : `This button has expired. To run the command, type ${codeTyped(`/vps ${command}`)}.`,
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

/** Becoming an owner is nothing that the app suggests: it says only who is one. */
function describeGranters({ needed, owners = [] }: Needed): string {
  const named = owners.map(mention).join(', ');
  if (needed === 'owner') return named === '' ? 'Ask an admin of this Slack workspace.' : `Ask ${named}.`;
  return named === '' ? 'An admin of this Slack workspace can grant it.' : `${named} can grant it.`;
}

const ASKED_BEFORE: Readonly<Record<AccessRequestState, (at: string, againAt: string) => string>> = {
  open: (at) =>
    `You requested this on ${at}, and the owners haven’t answered yet. To withdraw it: \`/vps access withdraw\``,
  denied: (at, againAt) => `An owner declined this on ${at}. You can ask again after ${againAt}.`,
  approved: (at) => `You requested this on ${at}, and an owner approved it.`,
  withdrawn: (at, againAt) =>
    `You requested this on ${at} and withdrew it. You can ask again after ${againAt}.`,
  replaced: (at, againAt) => `You requested this on ${at}. You can ask again after ${againAt}.`,
  expired: (at, againAt) =>
    `You requested this on ${at}, and no owner answered. You can ask again after ${againAt}.`,
};

const NO_GRANTEE: Readonly<Record<RefusalDetails['no_grantee']['problem'], string>> = {
  owner_channel:
    'A channel can’t be an owner: anyone who joins it would become one. Grant the owner role to users or a user group.',
  bot: 'Bots can’t have roles.',
  deactivated: 'This user is deactivated in Slack, so they can’t have a role.',
  stranger: 'People from other organizations can’t have roles here.',
  unknown_user: 'Slack doesn’t know this user.',
  unknown_group: 'Slack doesn’t know this user group. If it was just created, try again in five minutes.',
  disabled_group: 'This user group is disabled in Slack, so a role for it would have no effect.',
  no_user_scope:
    'The app can’t tell members from guests (missing scope `users:read`), so a role for a group or a channel would have no effect. Ask an admin to reinstall the app with that scope.',
  no_group_scope:
    'The app can’t read user groups (missing scope `usergroups:read`). Ask an admin to reinstall the app with that scope.',
  slack_silent: 'Slack didn’t answer, so the user group couldn’t be checked. Try again in a minute.',
  unknown_channel:
    'The app can’t see this channel: it was deleted, or it’s private. If it’s private, invite the app first.',
  archived_channel: 'This channel is archived, so a role for it would have no effect.',
};
