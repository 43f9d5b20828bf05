import { z } from 'zod';
import { Secret } from './domain/secret.ts';
import { LOG_LEVELS } from './log.ts';

/** Every setting, read from the environment once (docs/design.md 8). */
export type Config = z.output<typeof schema>;

/** Something is missing or wrong in the environment; `faults` has one line for each setting. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`Missing or wrong settings:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

const EXAMPLES = {
  HOSTING_BASE_URL: 'https://api.hosting.example/v1',
  HOSTING_TIMEOUT_MS: '30000',
  HOSTING_CURRENCY: 'EUR',
  HOSTING_ACCOUNT_URL: 'https://hosting.example/account',
  SLACK_SIGNING_SECRET: '<from the Slack app’s page “Basic Information”>',
  SLACK_BOT_TOKEN: 'xoxb-…',
  SLACK_API_URL: 'https://slack.com/api/',
  PUBLIC_URL: 'https://vps.example.com',
  ENCRYPTION_KEYS: 'k1:<32 bytes in base64, from: openssl rand -base64 32>',
  OWNERS: 'U012AB3CD,U045EF6GH',
  DATABASE_URL: 'sqlite:./data/vps.sqlite',
  SPILL_DIR: './data/answers',
  DOUBT_MINUTES: '30',
  PASSWORD_HOLD_MINUTES: '60',
  AUDIT_KEEP_DAYS: '365',
  PORT: '3000',
  HOST: '127.0.0.1',
  LOG_LEVEL: 'info',
} as const;

const minutes = (least: number, most: number) => z.coerce.number().min(least).max(most);
const secret = z
  .string()
  .min(1)
  .transform((text) => new Secret(text));
const address = z.url({ protocol: /^https?$/ });

const schema = z.object({
  HOSTING_BASE_URL: address
    .refine(isPrivateOrTls, 'must be https (http only on this machine): the API key is sent to it')
    .transform((url) => url.replace(/\/+$/, '')),
  HOSTING_TIMEOUT_MS: z.coerce.number().int().min(100).max(300_000).default(30_000),
  HOSTING_CURRENCY: z.string().max(12).default(''),
  /** Linked in messages: only what Slack takes as a link. */
  HOSTING_ACCOUNT_URL: address
    .max(1000)
    .regex(/^[^\s|<>]+$/, 'must be a link')
    .optional(),
  SLACK_SIGNING_SECRET: secret,
  SLACK_BOT_TOKEN: secret,
  SLACK_API_URL: address.transform((url) => `${url.replace(/\/+$/, '')}/`).default('https://slack.com/api/'),
  PUBLIC_URL: address
    .refine(isPrivateOrTls, 'must be https (http only on this machine): an API key is posted to it')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  ENCRYPTION_KEYS: secret,
  OWNERS: z
    .string()
    .default('')
    .transform((text) => text.split(/[\s,]+/).filter((id) => id !== ''))
    .pipe(z.array(z.string().regex(/^[UW][A-Z0-9]{2,}$/, 'must be Slack user ids'))),
  DATABASE_URL: z.string().min(1).default('sqlite:./data/vps.sqlite'),
  /** Absent: beside the database. */
  SPILL_DIR: z.string().min(1).optional(),
  DOUBT_MINUTES: minutes(1, 1440).default(30),
  PASSWORD_HOLD_MINUTES: minutes(0, 10_080).default(60),
  /** Absent: forever. */
  AUDIT_KEEP_DAYS: z.coerce.number().int().min(1).max(36_500).optional(),
  PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
  HOST: z.string().min(1).default('127.0.0.1'),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('info'),
});

const keySchema = schema.pick({
  HOSTING_BASE_URL: true,
  HOSTING_TIMEOUT_MS: true,
  ENCRYPTION_KEYS: true,
  DATABASE_URL: true,
});

const auditSchema = schema.pick({ ENCRYPTION_KEYS: true, DATABASE_URL: true });

const storeSchema = schema.pick({ ENCRYPTION_KEYS: true, DATABASE_URL: true, SPILL_DIR: true });

const slackCheckSchema = schema.pick({
  SLACK_BOT_TOKEN: true,
  SLACK_API_URL: true,
  PUBLIC_URL: true,
  OWNERS: true,
});

/**
 * Reads the settings; an empty variable counts as absent.
 * @throws ConfigError naming every fault at once, each with an example
 */
export function parseConfig(environment: Environment): Config {
  return parseWith(schema, environment);
}

/** The settings of `npm run key`. */
export type KeyConfig = z.output<typeof keySchema>;
/** The settings of `npm run audit`. */
export type AuditConfig = z.output<typeof auditSchema>;

/** The settings of `npm run store`. */
export type StoreConfig = z.output<typeof storeSchema>;

/** The settings of `npm run check:slack`. */
export type SlackCheckConfig = z.output<typeof slackCheckSchema>;

/** Reads only what it takes to test and store a key. @throws ConfigError as `parseConfig` does */
export function parseKeyConfig(environment: Environment): KeyConfig {
  return parseWith(keySchema, environment);
}

/** Reads only what it takes to open the audit. @throws ConfigError as `parseConfig` does */
export function parseAuditConfig(environment: Environment): AuditConfig {
  return parseWith(auditSchema, environment);
}

/** Reads only what it takes to move the store. @throws ConfigError as `parseConfig` does */
export function parseStoreConfig(environment: Environment): StoreConfig {
  return parseWith(storeSchema, environment);
}

/** Reads only what Slack is asked with. @throws ConfigError as `parseConfig` does */
export function parseSlackCheckConfig(environment: Environment): SlackCheckConfig {
  return parseWith(slackCheckSchema, environment);
}

/** Variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

function parseWith<Shape extends z.ZodObject>(wanted: Shape, environment: Environment): z.output<Shape> {
  const given = Object.fromEntries(
    Object.keys(wanted.shape).map((name) => [name, environment[name]?.trim() || undefined]),
  );
  const parsed = wanted.safeParse(given);
  if (parsed.success) return parsed.data;
  const faults = new Map<string, string>();
  for (const issue of parsed.error.issues) {
    const name = String(issue.path[0]);
    // The first problem of a setting is enough: the others often follow from it.
    if (!faults.has(name)) faults.set(name, describeFault(name, issue, given));
  }
  throw new ConfigError([...faults.values()]);
}

function describeFault(name: string, issue: { message: string }, given: Record<string, unknown>): string {
  const example = EXAMPLES[name as keyof typeof EXAMPLES] ?? '…';
  const fault = given[name] === undefined ? 'is missing' : `is wrong (${issue.message})`;
  return `${name} ${fault}, for example: ${name}=${example}`;
}

/** Plain HTTP is only for the sandbox and tests on this machine. Text that is not a URL is reported separately. */
function isPrivateOrTls(url: string): boolean {
  if (!URL.canParse(url)) return true;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
