import { signBody } from '../../src/sandbox/slack/sign.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';

/** One signed request of Slack, ready to be sent. */
export interface SignedCommand {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Typed {
  readonly signingSecret: string;
  /** Where the answer may be posted; absent leaves the app nowhere to reply. */
  readonly replyTo?: string;
  readonly userId?: string;
}

let made = 0;

/** Signs so many `/vps list` of one person, no two alike. */
export function signCommands(count: number, typed: Typed): SignedCommand[] {
  return Array.from({ length: count }, () => signCommand(typed));
}

function signCommand({ signingSecret, replyTo, userId = USERS.vera.id }: Typed): SignedCommand {
  const nth = ++made;
  const body = new URLSearchParams({
    token: 'no-longer-looked-at',
    team_id: TEAM.id,
    team_domain: TEAM.domain,
    channel_id: 'C0GENERAL1',
    channel_name: 'general',
    user_id: userId,
    user_name: 'vera',
    command: '/vps',
    text: 'list',
    api_app_id: 'A0VPSAPP01',
    is_enterprise_install: 'false',
    ...(replyTo === undefined ? {} : { response_url: `${replyTo}/reply/${nth}` }),
    trigger_id: `${nth}.1234567890.abcdef0123456789abcdef0123456789`,
  }).toString();
  const timestamp = String(Math.floor(Date.now() / 1000));
  return {
    body,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      accept: 'application/json,*/*',
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': signBody(signingSecret, timestamp, body),
    },
  };
}
