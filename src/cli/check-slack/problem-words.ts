import type { Answer, Refused, Unanswered, Why } from './answers.ts';
import type { Problem } from './report.ts';

/** An answer that isn't the one that was wanted. */
export type Failure = Exclude<Answer, { kind: 'accepted' }>;

/** The problem that a failed call shows, with the sentence that fixes it. */
export function problemOf(method: string, failure: Failure): Problem {
  return failure.kind === 'refused' ? refusalOf(method, failure) : silenceOf(failure);
}

/** Nothing readable came back from Slack's address. */
function silenceOf({ why, number }: Unanswered): Problem {
  return { code: why, text: SILENCE[why](number) };
}

const SILENCE: Readonly<Record<Why, (number: number) => string>> = {
  name_not_found: () =>
    'The host in SLACK_API_URL isn’t known here. Check this machine’s DNS and the spelling of SLACK_API_URL.',
  connection_refused: () =>
    'Nothing answers at SLACK_API_URL. Check its host and port, and whether a firewall blocks this machine.',
  connection_lost: () =>
    'The connection to Slack broke. Try again; if it happens each time, look for a firewall or proxy that closes it.',
  timeout: (seconds) =>
    `Slack didn’t answer within ${seconds} s. Let this machine reach it over HTTPS, or allow more with --timeout.`,
  certificate: () =>
    'Slack’s certificate isn’t accepted. If a proxy inspects TLS here, put its CA into NODE_EXTRA_CA_CERTS.',
  network: () =>
    'The request couldn’t be sent. Check the network of this machine, and copy SLACK_BOT_TOKEN again: it may hold a stray character.',
  redirect: (status) =>
    `SLACK_API_URL redirects to another address (${status}). Set it to https://slack.com/api/, or sign this machine in to its network.`,
  not_slack: (status) =>
    `The answer isn’t Slack’s (HTTP ${status}), but that of a proxy or another site. Let this machine reach Slack directly, and check SLACK_API_URL.`,
  server_error: (status) => `Slack, or a proxy before it, has an outage (HTTP ${status}). Try again later.`,
  rate_limited: (seconds) =>
    `Slack limits this method for ${seconds} s more. Run this check again after that.`,
};

function refusalOf(method: string, { code, neededScope }: Refused): Problem {
  if (code !== 'missing_scope') return problemOfCode(method, code);
  const scope = neededScope === undefined ? 'a scope' : `the scope ${neededScope}`;
  const text = `The app lacks ${scope}. Add it under OAuth & Permissions in the app’s settings, and reinstall the app.`;
  return { code, text };
}

/** The words for one of Slack's error codes. */
export function problemOfCode(method: string, code: string): Problem {
  const fix = Object.hasOwn(FIXES, code) ? FIXES[code] : undefined;
  const page = `https://docs.slack.dev/reference/methods/${method}`;
  return { code, text: fix ?? `Slack refuses ${method} (${code}). What this means is on ${page}.` };
}

const COPY_TOKEN = 'Copy the Bot User OAuth Token from the app’s Install App page into SLACK_BOT_TOKEN';
const OUTAGE = 'Slack has an outage. Try again later.';
const RESTRICTED =
  'The posting permissions of the workspace or the channel don’t let the app post there. Change these posting permissions, or name another channel.';

/** By Slack's error code, as its method pages list them. */
const FIXES: Readonly<Record<string, string>> = {
  invalid_auth: `Slack doesn’t accept SLACK_BOT_TOKEN. ${COPY_TOKEN}. If the app has a list of allowed IP addresses, add this machine’s.`,
  not_authed: `Slack got no token. ${COPY_TOKEN}, and let no proxy remove the header Authorization.`,
  token_revoked: `The token was revoked. Install the app again, then: ${COPY_TOKEN}.`,
  token_expired: `The token has expired: token rotation is on, which SLACK_BOT_TOKEN doesn’t support. Create the app again from its manifest, then: ${COPY_TOKEN}.`,
  account_inactive: `The app was removed from the workspace, or the workspace was deleted. Install the app again, then: ${COPY_TOKEN}.`,
  not_allowed_token_type: `This is not a bot token. ${COPY_TOKEN}; it starts with xoxb-.`,
  access_denied: 'An admin hasn’t approved the app for this workspace. Ask an admin to approve it.',
  team_access_not_granted:
    'The app isn’t installed in this workspace. Install it there from the app’s settings.',
  org_login_required:
    'The workspace is being moved into an Enterprise organization. Try again when that is done.',
  ekm_access_denied: 'Admins have suspended posting with Enterprise Key Management. Ask an admin.',
  unknown_method:
    'The server at SLACK_API_URL doesn’t know this method. Set SLACK_API_URL to https://slack.com/api/.',
  accesslimited: 'Access to Slack is limited on this network. Ask your Slack admin about allowed networks.',
  internal_error: OUTAGE,
  fatal_error: OUTAGE,
  service_unavailable: OUTAGE,
  request_timeout: OUTAGE,
  messages_tab_disabled:
    'Slack refuses direct messages. Turn on the Messages tab under App Home in the app’s settings.',
  cannot_dm_bot: 'This ID is a bot’s. Name a user with --user, and correct OWNERS.',
  user_not_found: 'No user here has this ID. Correct OWNERS, or name another user with --user.',
  user_not_visible: 'The app may not see this user. Name another user with --user.',
  user_disabled:
    'This user’s account is deactivated. Remove it from OWNERS, or name another user with --user.',
  not_in_channel:
    'The app isn’t a member of the channel. Invite the app to the channel: type /invite @vps there.',
  channel_not_found:
    'The app can’t see this channel. Check the ID; if the channel is private, invite the app: type /invite @vps there.',
  is_archived: 'The channel is archived. Name another one with --channel.',
  user_not_in_channel: 'The user isn’t a member of the channel. Name one who is with --user.',
  method_not_supported_for_channel_type:
    'This conversation is of a kind that the app doesn’t use. Name a channel with --channel.',
  restricted_action: RESTRICTED,
  restricted_action_read_only_channel: RESTRICTED,
  restricted_action_thread_only_channel: RESTRICTED,
  no_permission: RESTRICTED,
  edit_window_closed:
    'The workspace lets messages be edited only for a while, too short for the app. Ask an admin to allow editing.',
  cant_update_message: 'Slack doesn’t let the app edit its own message. Ask an admin about message editing.',
  cant_delete_message:
    'Slack doesn’t let the app delete its own message. Ask an admin about message deletion.',
  compliance_exports_prevent_deletion:
    'A compliance export prevents messages from being deleted. Only this check deletes messages; the app never does.',
};
