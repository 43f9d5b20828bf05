import { signBody } from '../../src/sandbox/slack/deliver.ts';
import { USERS } from '../../src/sandbox/slack/workspace.ts';
import { SIGNING_SECRET } from '../support/environment.ts';
import { commandSample, messageSuggestionSample, SENDERS } from '../support/payloads/samples.ts';

/** One signed request of Slack, ready to be sent. */
export interface SignedCommand {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The last part of the address that its answer is posted to. */
  readonly nth: number;
}

const VERA = { ...SENDERS['a member of a plain workspace'], userId: USERS.vera.id };

let made = 0;

/** Signs so many commands of one person, no two alike: what is typed after `/vps`, and where the answer may be posted. */
export function signCommands(count: number, text: string, replyTo: string): SignedCommand[] {
  return Array.from({ length: count }, () => {
    const nth = ++made;
    const ways = {
      response_url: `${replyTo}/reply/${nth}`,
      trigger_id: `${nth}.1234567890.abcdef0123456789`,
    };
    return sign({ ...commandSample(VERA), text, ...ways }, nth);
  });
}

/** Signs a letter that is typed into a menu of servers, as Slack sends it. */
export function signSuggestion(actionId: string, value: string): SignedCommand {
  const nth = ++made;
  const payload = { ...messageSuggestionSample(VERA), action_id: actionId, block_id: `b${nth}`, value };
  return sign({ payload: JSON.stringify(payload) }, nth);
}

/** Signs one of them, now: a signature is good for minutes. */
function sign(fields: Readonly<Record<string, string>>, nth: number): SignedCommand {
  const body = new URLSearchParams(fields).toString();
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
