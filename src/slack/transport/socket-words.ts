/** The routine: Slack closes a connection some seconds after it has said so (Slack's "Using Socket Mode" page). */
const ROUTINE: readonly string[] = ['warning', 'refresh_requested'];

/** Tells whether Slack goes on using the connection for a while after it has announced its end. */
export function isRoutine(reason: string): boolean {
  return ROUTINE.includes(reason);
}

const TOKEN = 'Create one with the scope connections:write under Basic Information, App-Level Tokens';

/** By Slack's error codes and reasons, and by our own. */
const WORDS: Readonly<Record<string, string>> = {
  not_asked_yet: 'The app has not opened its connection to Slack yet',
  closed: 'Slack closed the connection, and the app is opening another one',
  silent: 'The connection to Slack stopped answering, and the app is opening another one',
  no_hello: 'Slack opened a connection but didn’t confirm it; the app is trying again',
  link_disabled: 'Socket Mode is turned off: turn it on in the app’s settings, or remove SLACK_APP_TOKEN',
  too_many_websockets:
    'The app has more WebSockets than Slack allows (10): stop other copies of it, or wait until Slack has forgotten lost ones',
  ratelimited: 'Slack limits how often the app opens a connection; it is trying again',
  missing_scope: `SLACK_APP_TOKEN lacks the scope connections:write. ${TOKEN}`,
  not_allowed_token_type: `SLACK_APP_TOKEN is not an app-level token. ${TOKEN}`,
  ...Object.fromEntries(
    ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired'].map((code) => [
      code,
      `Slack does not accept SLACK_APP_TOKEN (${code}). ${TOKEN}`,
    ]),
  ),
};

/** Why the app gets nothing from Slack, in a sentence for the operator. */
export function describeSocketFault(code: string): string {
  const words = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  return words ?? `The app can’t open its connection to Slack (${code}); it is trying again`;
}
