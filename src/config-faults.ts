/** Settings by name, as the environment has them; an empty one is undefined. */
export type Given = Readonly<Record<string, string | undefined>>;

const EXAMPLES = {
  HOSTING_BASE_URL: 'https://api.hosting.example/v1',
  HOSTING_TIMEOUT_MS: '30000',
  HOSTING_CURRENCY: 'EUR',
  HOSTING_ACCOUNT_URL: 'https://hosting.example/account',
  SLACK_SIGNING_SECRET: '<from the Slack app’s page “Basic Information”>',
  SLACK_APP_TOKEN: 'xapp-…',
  SLACK_BOT_TOKEN: 'xoxb-…',
  SLACK_CLIENT_ID: '1234567890.1234567890',
  SLACK_CLIENT_SECRET: '<from the Slack app’s page “Basic Information”>',
  ALLOWED_WORKSPACES: 'T012AB3CD,E045EF6GH',
  SLACK_API_URL: 'https://slack.com/api/',
  PUBLIC_URL: 'https://vps.example.com',
  ENCRYPTION_KEYS: 'k1:<32 bytes in base64, from: openssl rand -base64 32>',
  OWNERS: 'U012AB3CD,U045EF6GH',
  DATABASE_URL: 'sqlite:./data/vps.sqlite',
  SPILL_DIR: './data/answers',
  MAX_PROCESSES: '4',
  DOUBT_MINUTES: '30',
  PASSWORD_HOLD_MINUTES: '60',
  AUDIT_KEEP_DAYS: '365',
  METRICS_TOKEN: '<from: openssl rand -hex 32>',
  PORT: '3000',
  HOST: '127.0.0.1',
  LOG_LEVEL: 'info',
} as const;

const NO_TRANSPORT = `SLACK_APP_TOKEN (Socket Mode, without a public address) or SLACK_SIGNING_SECRET (over HTTP) is missing, for example: SLACK_APP_TOKEN=${EXAMPLES.SLACK_APP_TOKEN}`;

/** A setting that is missing or wrong, in a sentence with an example. */
export function describeFault(name: string, problem: string, given: Given): string {
  const example = EXAMPLES[name as keyof typeof EXAMPLES] ?? '…';
  if (name === 'SLACK_APP_TOKEN' && given[name] === undefined) return NO_TRANSPORT;
  const fault = given[name] === undefined ? 'is missing' : `is wrong (${problem})`;
  return `${name} ${fault}, for example: ${name}=${example}`;
}

/** A SQLite file belongs to one process. */
export function findProcessFaults({
  DATABASE_URL,
  MAX_PROCESSES,
}: Given): Readonly<Record<string, string | undefined>> {
  if (DATABASE_URL !== undefined && !/^sqlite:/i.test(DATABASE_URL)) return {};
  return Number(MAX_PROCESSES ?? 1) === 1 ? {} : { MAX_PROCESSES: ONE_PER_FILE };
}

const ONE_PER_FILE =
  'MAX_PROCESSES is wrong (only one process can use a SQLite file: set DATABASE_URL to a PostgreSQL database first), ' +
  'for example: MAX_PROCESSES=1';
