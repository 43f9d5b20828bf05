import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { countEdits } from './core/labels.ts';
import { Secret } from './core/secret.ts';
import { MINUTE_MS } from './core/time.ts';
import { parseKeyring, VaultError } from './db/vault.ts';
import { LOG_LEVELS } from './log.ts';

/** All settings, read from the environment once (docs/design.md 8). */
export type Config = z.output<typeof schema>;

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`Missing or wrong settings:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

const minutes = (least: number, most: number) => z.coerce.number().min(least).max(most);
const secret = z.string().transform((text) => new Secret(text));
/** A list separated by commas, semicolons or white space. */
const list = (pattern: RegExp) =>
  z
    .string()
    .default('')
    .transform(listEntries)
    .pipe(z.array(z.string().regex(pattern)));
const address = z.url({ protocol: /^https?$/ });
/** An entry of `OWNERS`: a user, alone or in one workspace (`T012AB3CD:U012AB3CD`). */
const NAMED_OWNER = /^(?:T[A-Z0-9]{2,}:)?[UW][A-Z0-9]{2,}$/;

/** What is wrong with a value is said by `RULES`, never by the validator. */
const settings = z.object({
  HOSTING_BASE_URL: address.refine(isPrivateOrTls).transform((url) => url.replace(/\/+$/, '')),
  HOSTING_TIMEOUT_MS: z.coerce.number().int().min(100).max(300_000).default(30_000),
  HOSTING_CURRENCY: z.string().max(12).default(''),
  /** Linked in messages, so only what Slack takes as a link. */
  HOSTING_ACCOUNT_URL: address
    .max(1000)
    .regex(/^[^\s|<>]+$/)
    .optional(),
  /** For Socket Mode; absent for HTTP. */
  SLACK_APP_TOKEN: z
    .string()
    .regex(/^xapp-/)
    .pipe(secret)
    .optional(),
  /** For HTTP. */
  SLACK_SIGNING_SECRET: secret.optional(),
  /** For one workspace. Emulators have tokens of their own, so only what is known to be another token is refused. */
  SLACK_BOT_TOKEN: z
    .string()
    .regex(/^(?!xapp-|xoxp-)/)
    .pipe(secret)
    .optional(),
  /** For several workspaces, which install the app by OAuth. */
  SLACK_CLIENT_ID: z
    .string()
    .regex(/^[\w.-]+$/)
    .optional(),
  SLACK_CLIENT_SECRET: secret.optional(),
  /** Workspaces or organizations that may install the app; empty for any. */
  ALLOWED_WORKSPACES: list(/^[TE][A-Z0-9]{2,}$/),
  SLACK_API_URL: address.transform((url) => `${url.replace(/\/+$/, '')}/`).default('https://slack.com/api/'),
  PUBLIC_URL: address
    .refine(isPrivateOrTls)
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  ENCRYPTION_KEYS: z.string().transform((text, { addIssue }) => {
    try {
      return parseKeyring(text);
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      addIssue(error.message);
      return z.NEVER;
    }
  }),
  OWNERS: list(NAMED_OWNER),
  DATABASE_URL: z
    .string()
    .refine((url) => /^sqlite:./i.test(url) || (/^postgres(ql)?:/i.test(url) && URL.canParse(url)))
    .default('sqlite:./data/vps.sqlite'),
  /** Processes that share one PostgreSQL server (docs/design.md 8.7); absent to let each take all the connections it can use. */
  MAX_PROCESSES: z.coerce.number().int().min(1).max(1000).optional(),
  /** A folder; absent for one beside the database. */
  SPILL_DIR: z.string().optional(),
  DOUBT_MINUTES: minutes(1, 1440).default(30),
  PASSWORD_HOLD_MINUTES: minutes(0, 10_080).default(60),
  /** Absent to keep the audit forever. */
  AUDIT_KEEP_DAYS: z.coerce.number().int().min(1).max(36_500).optional(),
  /** Absent for no `/metrics` (docs/design.md 8.5). */
  METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,}$/)
    .pipe(secret)
    .optional(),
  PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
  HOST: z.string().default('127.0.0.1'),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('info'),
});

/** Requires a way for Slack's requests to arrive and to be recognized as Slack's. */
const schema = settings.refine(
  ({ SLACK_APP_TOKEN, SLACK_SIGNING_SECRET }) => Boolean(SLACK_APP_TOKEN ?? SLACK_SIGNING_SECRET),
  { path: ['SLACK_APP_TOKEN'], when: () => true },
);

const keySchema = settings.pick({
  HOSTING_BASE_URL: true,
  HOSTING_TIMEOUT_MS: true,
  ENCRYPTION_KEYS: true,
  DATABASE_URL: true,
});

const storeSchema = settings.pick({ ENCRYPTION_KEYS: true, DATABASE_URL: true, SPILL_DIR: true });

/**
 * Reads the app's settings. An empty variable counts as absent.
 * @throws ConfigError naming every fault at once, each with an example
 */
export function parseConfig(environment: Environment): Config {
  const config = parseWith(schema, environment, (given) => ({
    ...findSlackFaults(given),
    ...findProcessFaults(given),
  }));
  // No manager decides before the sender's request has ended. It may begin 15 s after the mark, and a minute is the least doubt.
  const leastDoubt = (2 * config.HOSTING_TIMEOUT_MS) / MINUTE_MS;
  return { ...config, DOUBT_MINUTES: Math.max(config.DOUBT_MINUTES, leastDoubt) };
}

export type KeyConfig = z.output<typeof keySchema>;
export type StoreConfig = z.output<typeof storeSchema>;

// The settings of the programs in `cli/`. @throws ConfigError as `parseConfig` does
export const parseKeyConfig = (environment: Environment) => parseWith(keySchema, environment);
export const parseStoreConfig = (environment: Environment) => parseWith(storeSchema, environment);

/** Environment variables by name; also settings by name, or their faults, undefined if empty. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Parses settings. `findFaults` finds contradictions between them, by the name of the one to change. */
function parseWith<Shape extends z.ZodObject>(
  wanted: Shape,
  environment: Environment,
  findFaults: (given: Environment) => Environment = () => ({}),
): z.output<Shape> {
  const names = Object.keys(wanted.shape);
  const files = readSecretFiles(names, environment);
  const given = Object.fromEntries(
    names.map((name) => [name, environment[name]?.trim() || files.texts[name] || undefined]),
  );
  const parsed = wanted.safeParse(given);
  const found = { ...findFaults(given), ...findPlaceholders(given), ...files.faults };
  const faults = new Map(Object.entries(found).filter(([, fault]) => fault !== undefined));
  for (const issue of parsed.error?.issues ?? []) {
    const name = String(issue.path[0]);
    // The first problem of a setting is enough: the others often follow from it.
    if (!faults.has(name)) faults.set(name, describeFault(name, issue.message, given));
  }
  if (parsed.success && faults.size === 0) return parsed.data;
  throw new ConfigError([...names.flatMap((name) => faults.get(name) ?? []), ...findMisspelled(environment)]);
}

/** Settings that may be in a file instead, as containers mount secrets: `ENCRYPTION_KEYS_FILE` names the file. */
const SECRETS: readonly string[] = [
  'DATABASE_URL',
  'ENCRYPTION_KEYS',
  'METRICS_TOKEN',
  'SLACK_APP_TOKEN',
  'SLACK_BOT_TOKEN',
  'SLACK_CLIENT_SECRET',
  'SLACK_SIGNING_SECRET',
] satisfies readonly (keyof typeof settings.shape)[];

const FILE = '_FILE';

/** Reads the secrets that are in files, trimmed; `faults` has a sentence for each that can't be used, by its setting. */
function readSecretFiles(names: readonly string[], environment: Environment) {
  const texts: Record<string, string> = {};
  const faults: Record<string, string> = {};
  for (const name of SECRETS.filter((each) => names.includes(each))) {
    const path = environment[name + FILE]?.trim();
    if (!path) continue;
    try {
      texts[name] = readFileSync(path, 'utf8').trim();
      if (texts[name] === '') faults[name] = `${name}${FILE} names an empty file`;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
      faults[name] = `${name}${FILE} names a file that can't be read${code}`;
    }
    if (environment[name]?.trim())
      faults[name] = `${name} and ${name}${FILE} are both set: leave one of them empty`;
  }
  return { texts, faults };
}

function findSlackFaults(given: Environment): Environment {
  const { SLACK_BOT_TOKEN: token, SLACK_CLIENT_ID: id, SLACK_CLIENT_SECRET: secret, OWNERS = '' } = given;
  const isByOAuth = id !== undefined || secret !== undefined;
  if (!isByOAuth && token === undefined)
    return {
      SLACK_BOT_TOKEN:
        'SLACK_BOT_TOKEN is missing, for example: SLACK_BOT_TOKEN=xoxb-… ' +
        '(or, for several workspaces, SLACK_CLIENT_ID and SLACK_CLIENT_SECRET)',
    };
  if (!isByOAuth) return given.ALLOWED_WORKSPACES === undefined ? {} : { ALLOWED_WORKSPACES: ONLY_BY_OAUTH };
  const missing = ['SLACK_CLIENT_ID', 'SLACK_CLIENT_SECRET', 'PUBLIC_URL'].filter(
    (name) => given[name] === undefined,
  );
  return {
    ...Object.fromEntries(missing.map((name) => [name, describeFault(name, '', given)])),
    SLACK_BOT_TOKEN: token === undefined ? undefined : BOTH_WAYS,
    // Text that is no owner is reported separately.
    OWNERS: listEntries(OWNERS).some((entry) => NAMED_OWNER.test(entry) && !entry.includes(':'))
      ? OWNERS_WITHOUT_WORKSPACE
      : undefined,
  };
}

const BOTH_WAYS =
  'SLACK_BOT_TOKEN is for one workspace, SLACK_CLIENT_ID and SLACK_CLIENT_SECRET are for several: leave one or the other empty';
const ONLY_BY_OAUTH =
  'ALLOWED_WORKSPACES is only for SLACK_CLIENT_ID and SLACK_CLIENT_SECRET: leave it empty with SLACK_BOT_TOKEN, which serves one workspace';
const OWNERS_WITHOUT_WORKSPACE =
  'OWNERS must name each owner with their workspace if there are several workspaces, for example T012AB3CD:U012AB3CD';

function findPlaceholders(given: Environment): Readonly<Record<string, string>> {
  const names = ['HOSTING_BASE_URL', 'OWNERS', 'SLACK_APP_TOKEN', 'SLACK_BOT_TOKEN'] as const;
  const left = names.filter((name) => given[name] === RULES[name].example);
  return Object.fromEntries(
    left.map((name) => [
      name,
      `${name} still has the example value ${RULES[name].example}: replace it with yours`,
    ]),
  );
}

/**
 * Finds variables that look like a misspelled setting, a sentence each. They are only a warning, since they may belong to
 * another program.
 */
export function findMisspelled(environment: Environment): readonly string[] {
  const names = [...Object.keys(settings.shape), ...SECRETS.map((name) => name + FILE)];
  const others = Object.keys(environment).filter((name) => name.length > 3 && !names.includes(name));
  return others.flatMap((other) => {
    // HOME is two letters away from HOST.
    const isNear = (name: string) => countEdits(other, name) <= (name.length > 5 ? 2 : 1);
    const meant = names.find((name) => name[0] === other[0] && isNear(name));
    return meant && environment[other] ? [`${other} is not a setting: did you mean ${meant}?`] : [];
  });
}

function listEntries(text: string): string[] {
  const entries = text.replace(/\s*:\s*/g, ':').split(/[\s,;]+/);
  return entries.filter((entry) => entry !== '');
}

/** Whether a URL is HTTPS, or HTTP on this machine, for the sandbox and tests. Text that is no URL is reported separately. */
function isPrivateOrTls(url: string): boolean {
  if (!URL.canParse(url)) return true;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

const HTTPS = 'must be an https address (http only on this machine)';
const FROM_SLACK = '<from the Slack app’s page “Basic Information”>';

/** What each setting must be, and an example. Neither repeats the value, which may be a secret in the wrong place. */
const RULES = {
  HOSTING_BASE_URL: {
    rule: `${HTTPS}, since the API key is sent to it`,
    example: 'https://api.hosting.example/v1',
  },
  HOSTING_TIMEOUT_MS: { rule: 'must be a whole number from 100 to 300000', example: '30000' },
  HOSTING_CURRENCY: { rule: 'must have at most 12 characters', example: 'EUR' },
  HOSTING_ACCOUNT_URL: {
    rule: 'must be a link of at most 1000 characters',
    example: 'https://hosting.example/account',
  },
  SLACK_SIGNING_SECRET: { rule: '', example: FROM_SLACK },
  SLACK_APP_TOKEN: { rule: 'must be an app-level token, which starts with xapp-', example: 'xapp-…' },
  SLACK_BOT_TOKEN: { rule: 'must be a bot token, which starts with xoxb-', example: 'xoxb-…' },
  SLACK_CLIENT_ID: { rule: 'must be the Slack app’s client ID', example: '1234567890.1234567890' },
  SLACK_CLIENT_SECRET: { rule: '', example: FROM_SLACK },
  ALLOWED_WORKSPACES: { rule: 'must be IDs of workspaces or organizations', example: 'T012AB3CD,E045EF6GH' },
  SLACK_API_URL: { rule: 'must be an https or http address', example: 'https://slack.com/api/' },
  PUBLIC_URL: { rule: `${HTTPS}, since an API key is sent to it`, example: 'https://vps.example.com' },
  ENCRYPTION_KEYS: { rule: '', example: 'k1:<32 bytes in base64, from: openssl rand -base64 32>' },
  OWNERS: { rule: 'must be Slack user IDs', example: 'U012AB3CD' },
  DATABASE_URL: {
    rule: 'must be the address of a SQLite file or a PostgreSQL database',
    example: 'sqlite:./data/vps.sqlite or postgres://user:password@host:5432/database',
  },
  MAX_PROCESSES: { rule: 'must be a whole number from 1 to 1000', example: '4' },
  SPILL_DIR: { rule: '', example: './data/answers' },
  DOUBT_MINUTES: { rule: 'must be a number from 1 to 1440', example: '30' },
  PASSWORD_HOLD_MINUTES: { rule: 'must be a number from 0 to 10080', example: '60' },
  AUDIT_KEEP_DAYS: { rule: 'must be a whole number from 1 to 36500', example: '365' },
  METRICS_TOKEN: {
    rule: 'must have at least 16 ASCII characters and no spaces',
    example: 'the output of openssl rand -hex 32',
  },
  PORT: { rule: 'must be a number from 0 to 65535', example: '3000' },
  HOST: { rule: '', example: '127.0.0.1' },
  LOG_LEVEL: { rule: `must be one of ${LOG_LEVELS.join(', ')}`, example: 'info' },
} satisfies Record<keyof typeof settings.shape, { rule: string; example: string }>;

const NO_TRANSPORT =
  'SLACK_APP_TOKEN (Socket Mode, without a public address) or SLACK_SIGNING_SECRET (over HTTP) is missing, for example: SLACK_APP_TOKEN=xapp-…';

/** Says that a setting is missing or wrong, with an example. `problem`: of the keyring, which entry is wrong and why. */
function describeFault(name: string, problem: string, given: Environment): string {
  const { rule, example } = RULES[name as keyof typeof RULES];
  if (name === 'SLACK_APP_TOKEN' && given[name] === undefined) return NO_TRANSPORT;
  if (given[name] === undefined) return `${name} is missing, for example: ${name}=${example}`;
  return name === 'ENCRYPTION_KEYS' ? `${name}: ${problem}` : `${name} ${rule}, for example ${example}`;
}

function findProcessFaults({ DATABASE_URL, MAX_PROCESSES }: Environment): Environment {
  if (DATABASE_URL !== undefined && !/^sqlite:/i.test(DATABASE_URL)) return {};
  return Number(MAX_PROCESSES ?? 1) === 1 ? {} : { MAX_PROCESSES: ONE_PER_FILE };
}

const ONE_PER_FILE =
  'MAX_PROCESSES must be 1 or empty, since only one process can use a SQLite file: for more, set DATABASE_URL to a PostgreSQL database';
