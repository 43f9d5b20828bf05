import { signBody } from '../../src/sandbox/slack/deliver.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';

/** One signed request of Slack, ready to be sent. */
export interface SignedCommand {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The last part of the address that its answer is posted to. */
  readonly nth: number;
}

export interface Typed {
  readonly signingSecret: string;
  /** Where the answer may be posted; absent leaves the app nowhere to reply. */
  readonly replyTo?: string;
  readonly userId?: string;
  /** What is typed after `/vps`. */
  readonly text?: string;
  readonly workspaceId?: string;
}

let made = 0;

/** Signs so many commands of one person, no two alike. */
export function signCommands(count: number, typed: Typed): SignedCommand[] {
  return Array.from({ length: count }, () => signCommand(typed));
}

/** Signs a letter that is typed into a menu of servers, as Slack sends it. */
export function signSuggestion(actionId: string, value: string, signingSecret: string): SignedCommand {
  const nth = ++made;
  const payload = {
    type: 'block_suggestion',
    user: { id: USERS.vera.id, username: 'vera', name: 'vera', team_id: TEAM.id },
    team: { id: TEAM.id, domain: TEAM.domain },
    container: {
      type: 'message',
      message_ts: '1700000000.000100',
      channel_id: 'C0GENERAL1',
      is_ephemeral: true,
    },
    channel: { id: 'C0GENERAL1', name: 'general' },
    api_app_id: 'A0VPSAPP01',
    enterprise: null,
    is_enterprise_install: false,
    action_id: actionId,
    block_id: `b${nth}`,
    value,
  };
  return sign(new URLSearchParams({ payload: JSON.stringify(payload) }).toString(), signingSecret, nth);
}

/** Signs one of them, now: a signature is good for minutes. */
function signCommand({
  signingSecret,
  replyTo,
  userId = USERS.vera.id,
  workspaceId = TEAM.id,
  text = 'list',
}: Typed): SignedCommand {
  const nth = ++made;
  const body = new URLSearchParams({
    token: 'no-longer-looked-at',
    team_id: workspaceId,
    team_domain: TEAM.domain,
    channel_id: 'C0GENERAL1',
    channel_name: 'general',
    user_id: userId,
    user_name: 'vera',
    command: '/vps',
    text,
    api_app_id: 'A0VPSAPP01',
    is_enterprise_install: 'false',
    ...(replyTo === undefined ? {} : { response_url: `${replyTo}/reply/${nth}` }),
    trigger_id: `${nth}.1234567890.abcdef0123456789abcdef0123456789`,
  }).toString();
  return sign(body, signingSecret, nth);
}

function sign(body: string, signingSecret: string, nth: number): SignedCommand {
  const timestamp = String(Math.floor(Date.now() / 1000));
  return {
    body,
    nth,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      accept: 'application/json,*/*',
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': signBody(signingSecret, timestamp, body),
    },
  };
}
