import { signBody } from '../../src/sandbox/slack/deliver.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { SIGNING_SECRET } from '../support/environment.ts';

/** One signed request of Slack, ready to be sent. */
export interface SignedCommand {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The last part of the address that its answer is posted to. */
  readonly nth: number;
}

let made = 0;

/** Signs so many commands of one person, no two alike: what is typed after `/vps`, and where the answer may be posted. */
export function signCommands(count: number, text: string, replyTo: string): SignedCommand[] {
  return Array.from({ length: count }, () => signCommand(text, replyTo));
}

/** Signs a letter that is typed into a menu of servers, as Slack sends it. */
export function signSuggestion(actionId: string, value: string): SignedCommand {
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
  return sign(new URLSearchParams({ payload: JSON.stringify(payload) }).toString(), nth);
}

/** Signs one of them, now: a signature is good for minutes. */
function signCommand(text: string, replyTo: string): SignedCommand {
  const nth = ++made;
  const body = new URLSearchParams({
    token: 'no-longer-looked-at',
    team_id: TEAM.id,
    team_domain: TEAM.domain,
    channel_id: 'C0GENERAL1',
    channel_name: 'general',
    user_id: USERS.vera.id,
    user_name: 'vera',
    command: '/vps',
    text,
    api_app_id: 'A0VPSAPP01',
    is_enterprise_install: 'false',
    response_url: `${replyTo}/reply/${nth}`,
    trigger_id: `${nth}.1234567890.abcdef0123456789abcdef0123456789`,
  }).toString();
  return sign(body, nth);
}

function sign(body: string, nth: number): SignedCommand {
  const timestamp = String(Math.floor(Date.now() / 1000));
  return {
    body,
    nth,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      accept: 'application/json,*/*',
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': signBody(SIGNING_SECRET, timestamp, body),
    },
  };
}
