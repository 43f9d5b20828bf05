import { problemOf } from './problem-words.ts';
import type { Problem, Report } from './report.ts';
import type { WebApi } from './web-api.ts';

const METHOD = 'apps.connections.open';
const CREATE =
  'Create an app-level token with the scope connections:write under Basic Information in the app’s settings, and copy it into SLACK_APP_TOKEN; it starts with xapp-';
const REFUSED: readonly string[] = [
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
];

/** Asks Slack for the address of a WebSocket (Socket Mode), and does not open it: the app itself may be running. */
export async function checkAppToken(api: WebApi, report: Report): Promise<void> {
  const check = 'app-level token';
  const answer = await api.call(METHOD, {});
  if (answer.kind === 'accepted') return report.ok(check, 'Slack offers a connection for Socket Mode.');
  const problem = problemOf(METHOD, answer);
  return report.failed(check, { ...problem, text: wordsFor(problem.code) ?? problem.text });
}

function wordsFor(code: Problem['code']): string | undefined {
  if (REFUSED.includes(code)) return `Slack doesn’t accept SLACK_APP_TOKEN. ${CREATE}.`;
  if (code === 'not_allowed_token_type') return `SLACK_APP_TOKEN is not an app-level token. ${CREATE}.`;
  if (code === 'missing_scope') return `SLACK_APP_TOKEN lacks the scope connections:write. ${CREATE}.`;
  return undefined;
}
