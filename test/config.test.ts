import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Config, ConfigError, findMisspelled, parseConfig, parseKeyConfig } from '../src/config.ts';
import { listNamedOwners } from '../src/core/roles.ts';
import { listSettings, makeKey, parseEnvFile } from './support/environment.ts';

const SECRETS = {
  SLACK_SIGNING_SECRET: 'canary-signing-secret',
  SLACK_BOT_TOKEN: 'xoxb-canary-token',
  ENCRYPTION_KEYS: `k1:${makeKey('canary')}`,
};
const ENOUGH = { HOSTING_BASE_URL: 'https://api.hosting.test/v1', ...SECRETS };

function faultsOf(environment: Record<string, string | undefined>): readonly string[] {
  try {
    parseConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

describe('the settings', () => {
  it('need four variables and no more', () => {
    const missing = ['HOSTING_BASE_URL', 'SLACK_APP_TOKEN', 'SLACK_BOT_TOKEN', 'ENCRYPTION_KEYS'];
    expect(faultsOf({}).map((fault) => fault.split(' ')[0])).toEqual(missing);
    expect(faultsOf(ENOUGH)).toEqual([]);
  });

  it('need an app-level token or a signing secret, and the fault says which is for what', () => {
    const { SLACK_SIGNING_SECRET: _, ...rest } = ENOUGH;
    expect(faultsOf({ ...rest, SLACK_APP_TOKEN: 'xapp-1-A1-2-3' })).toEqual([]);
    expect(faultsOf({ ...ENOUGH, SLACK_APP_TOKEN: 'xapp-1-A1-2-3' })).toEqual([]);
    expect(faultsOf(rest)).toEqual([
      'SLACK_APP_TOKEN (Socket Mode, without a public address) or SLACK_SIGNING_SECRET (over HTTP) is missing, for example: SLACK_APP_TOKEN=xapp-…',
    ]);
  });

  it('need each token in its own variable, since they are easy to mix up', () => {
    const faults = faultsOf({ ...ENOUGH, SLACK_APP_TOKEN: 'xoxb-1', SLACK_BOT_TOKEN: 'xapp-1' });
    expect(faults).toEqual([
      'SLACK_APP_TOKEN must be an app-level token, which starts with xapp-, for example xapp-…',
      'SLACK_BOT_TOKEN must be a bot token, which starts with xoxb-, for example xoxb-…',
    ]);
    expect(faultsOf({ ...ENOUGH, SLACK_APP_TOKEN: 'xoxp-1', SLACK_BOT_TOKEN: 'xoxp-1' })).toHaveLength(2);
    expect(faultsOf({ ...ENOUGH, SLACK_BOT_TOKEN: 'a token of an emulator' })).toEqual([]);
  });

  it('let no manager decide about an order before its request can have ended', () => {
    const doubtOf = (more: Record<string, string>) => parseConfig({ ...ENOUGH, ...more }).DOUBT_MINUTES;
    expect(doubtOf({ DOUBT_MINUTES: '1' })).toBe(1);
    expect(doubtOf({ DOUBT_MINUTES: '1', HOSTING_TIMEOUT_MS: '300000' })).toBe(10);
  });

  describe('that are secrets', () => {
    const { ENCRYPTION_KEYS, ...rest } = ENOUGH;
    const makeFile = (text: string) => {
      const folder = mkdtempSync(join(tmpdir(), 'vps-slack-secrets-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      writeFileSync(join(folder, 'secret'), text);
      return join(folder, 'secret');
    };

    it('can each be in a file, whose last line break does not count', () => {
      const names = Object.keys(SECRETS) as (keyof typeof SECRETS)[];
      const files = names.map((name) => [`${name}_FILE`, makeFile(`${SECRETS[name]}\n`)]);
      const config = parseConfig({
        HOSTING_BASE_URL: ENOUGH.HOSTING_BASE_URL,
        ...Object.fromEntries(files),
        SLACK_APP_TOKEN_FILE: makeFile('xapp-canary\r\n'),
        DATABASE_URL_FILE: makeFile('postgres://vps:secret@db.test/vps\n'),
        METRICS_TOKEN_FILE: makeFile('0123456789abcdef\n'),
      });
      expect(config.SLACK_BOT_TOKEN?.reveal()).toBe(SECRETS.SLACK_BOT_TOKEN);
      expect(config.SLACK_SIGNING_SECRET?.reveal()).toBe(SECRETS.SLACK_SIGNING_SECRET);
      expect(config.SLACK_APP_TOKEN?.reveal()).toBe('xapp-canary');
      expect(config.METRICS_TOKEN?.reveal()).toBe('0123456789abcdef');
      expect(config.DATABASE_URL).toBe('postgres://vps:secret@db.test/vps');
      expect([...config.ENCRYPTION_KEYS.keys()]).toEqual(['k1']);
      const client = { SLACK_CLIENT_ID: '1.2', SLACK_CLIENT_SECRET_FILE: makeFile('client-secret\n') };
      const { SLACK_BOT_TOKEN: _, ...byOAuth } = { ...ENOUGH, ...client, PUBLIC_URL: 'https://vps.test' };
      expect(parseConfig(byOAuth).SLACK_CLIENT_SECRET?.reveal()).toBe('client-secret');
    });

    it('are refused if they are set twice, or if their file is missing or empty', () => {
      const path = makeFile(`${ENCRYPTION_KEYS}\n`);
      expect(faultsOf({ ...rest, ENCRYPTION_KEYS_FILE: path })).toEqual([]);
      expect(faultsOf({ ...ENOUGH, ENCRYPTION_KEYS_FILE: path })).toEqual([
        'ENCRYPTION_KEYS and ENCRYPTION_KEYS_FILE are both set: leave one of them empty',
      ]);
      expect(faultsOf({ ...rest, ENCRYPTION_KEYS_FILE: `${path}.missing` })).toEqual([
        "ENCRYPTION_KEYS_FILE names a file that can't be read (ENOENT)",
      ]);
      expect(faultsOf({ ...rest, ENCRYPTION_KEYS_FILE: makeFile('\n') })).toEqual([
        'ENCRYPTION_KEYS_FILE names an empty file',
      ]);
      expect(findMisspelled({ ENCRYPTION_KEY_FILE: path })).toEqual([
        'ENCRYPTION_KEY_FILE is not a setting: did you mean ENCRYPTION_KEYS_FILE?',
      ]);
    });
  });

  it('have every fault named at once, in our words and with an example', () => {
    const wrong = {
      HOSTING_BASE_URL: 'api.hosting.test',
      HOSTING_TIMEOUT_MS: 'soon',
      ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
      OWNERS: 'ann, bob',
      DATABASE_URL: 'postgres://vps:canary-database@db.test:port/vps',
      PORT: '70000',
      LOG_LEVEL: 'loud',
    };
    const faults = faultsOf({ ...ENOUGH, ...wrong });
    expect(faults.map((fault) => fault.split(/[ :]/)[0])).toEqual(Object.keys(wrong));
    expect(faults).toContain('PORT must be a number from 0 to 65535, for example 3000');
    expect(faults).toContain(
      'ENCRYPTION_KEYS: key 1 is easy to guess. Make a new one with `echo "k1:$(openssl rand -base64 32)"`',
    );
    for (const fault of faults) expect(fault).not.toMatch(/canary|invalid|expected|received|too big/i);
  });

  it.each([
    ['HOSTING_BASE_URL', 'https://api.hosting.example/v1'],
    ['OWNERS', 'U012AB3CD'],
    ['SLACK_BOT_TOKEN', 'xoxb-…'],
  ])('are refused if they still have the value of an example: %s=%s', (name, value) => {
    expect(faultsOf({ ...ENOUGH, [name]: value })).toEqual([
      `${name} still has the example value ${value}: replace it with yours`,
    ]);
  });

  it('are probably meant by variables that are a letter or two off', () => {
    const typos = { PROT: '8080', DATABSE_URI: 'x', HOSTNG_BASE_URL: 'x', SLACK_BOT_TOKN: '' };
    const words = [
      'PROT is not a setting: did you mean PORT?',
      'DATABSE_URI is not a setting: did you mean DATABASE_URL?',
      'HOSTNG_BASE_URL is not a setting: did you mean HOSTING_BASE_URL?',
    ];
    expect(findMisspelled({ ...ENOUGH, ...typos })).toEqual(words);
    expect(faultsOf({ ...ENOUGH, ...typos })).toEqual([]);
    expect(faultsOf({ ...ENOUGH, ...typos, PORT: 'x' }).slice(1)).toEqual(words);
  });

  it('have an example for each variable', () => {
    const wrong = Object.fromEntries(listSettings().map((name) => [name, '\u0000 \n']));
    for (const fault of [...faultsOf({}), ...faultsOf(wrong)]) expect(fault).not.toMatch(/=…$/);
  });

  it.each<[Record<string, string>, Partial<Config>]>([
    [{ HOSTING_BASE_URL: 'https://a.test/v1//' }, { HOSTING_BASE_URL: 'https://a.test/v1' }],
    [{ PUBLIC_URL: 'https://vps.test/' }, { PUBLIC_URL: 'https://vps.test' }],
    [{ OWNERS: 'U012AB3CD, W045EF6GH\nU078IJ9KL' }, { OWNERS: ['U012AB3CD', 'W045EF6GH', 'U078IJ9KL'] }],
    [{ PORT: ' 8080 ' }, { PORT: 8080 }],
    [{ PASSWORD_HOLD_MINUTES: '0' }, { PASSWORD_HOLD_MINUTES: 0 }],
  ])('%j are read as %j', (given, taken) => {
    expect(parseConfig({ ...ENOUGH, ...given })).toMatchObject(taken);
  });

  it.each([
    ['DATABASE_URL', 'postgres://vps@db.test:port/vps'],
    ['DATABASE_URL', 'mysql://db.test/vps'],
    ['DATABASE_URL', 'sqlite:'],
    ['HOSTING_TIMEOUT_MS', '1.5e9'],
    ['HOSTING_CURRENCY', 'thirteen chars'],
    ['OWNERS', 'C012AB3CD'],
    ['DOUBT_MINUTES', '0'],
    ['DOUBT_MINUTES', '0.99'],
    ['PASSWORD_HOLD_MINUTES', 'forever'],
    ['PASSWORD_HOLD_MINUTES', '10081'],
    ['PORT', '3000.5'],
    ['LOG_LEVEL', 'INFO'],
  ])('%s=%s is refused', (name, value) => {
    expect(faultsOf({ ...ENOUGH, [name]: value })).toEqual([
      expect.stringMatching(new RegExp(`^${name} must `)),
    ]);
  });

  it.each([
    'https://vps.example.com',
    'http://localhost:3000',
    'http://127.8.8.8',
    'http://[::1]:3000',
  ])('PUBLIC_URL may be %s', (url) => {
    expect(parseConfig({ ...ENOUGH, PUBLIC_URL: url }).PUBLIC_URL).toBe(url);
  });

  it.each([
    'http://vps.example.com',
    'http://10.0.0.1',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'ws://localhost',
    'javascript:alert(1)',
    'vps.example.com',
  ])('HOSTING_BASE_URL and PUBLIC_URL may not be %s, since the API key is sent to both', (url) => {
    for (const name of ['HOSTING_BASE_URL', 'PUBLIC_URL'])
      expect(faultsOf({ ...ENOUGH, [name]: url })).toEqual([
        expect.stringContaining(`${name} must be an https address`),
      ]);
  });

  it('never have a secret printed, even when another one is wrong', () => {
    const config = parseConfig(ENOUGH);
    let failed: unknown;
    try {
      parseConfig({ ...ENOUGH, PORT: 'x', HOSTING_BASE_URL: undefined, OWNERS: 'x' });
    } catch (error) {
      failed = error;
    }
    const printed = [
      inspect(config, { depth: 9 }),
      JSON.stringify(config),
      inspect(failed),
      String(failed),
    ].join('\n');
    for (const secret of Object.values(SECRETS)) expect(printed).not.toContain(secret);
    expect(config.SLACK_BOT_TOKEN?.reveal()).toBe(SECRETS.SLACK_BOT_TOKEN);
  });

  it('are only HOSTING_BASE_URL and ENCRYPTION_KEYS if they are for the command line', () => {
    const { HOSTING_BASE_URL, ENCRYPTION_KEYS } = ENOUGH;
    expect(parseKeyConfig({ HOSTING_BASE_URL, ENCRYPTION_KEYS }).DATABASE_URL).toBe(
      'sqlite:./data/vps.sqlite',
    );
    expect(() => parseKeyConfig({})).toThrow(/HOSTING_BASE_URL is missing.*\n.*ENCRYPTION_KEYS is missing/);
  });
});

describe('MAX_PROCESSES', () => {
  const DATABASE_URL = 'postgres://vps:canary-database@db.test/vps';

  it('is accepted with PostgreSQL, and above 1 refused for a SQLite file', () => {
    expect(parseConfig({ ...ENOUGH, DATABASE_URL, MAX_PROCESSES: '4' }).MAX_PROCESSES).toBe(4);
    expect(parseConfig({ ...ENOUGH, MAX_PROCESSES: '1' }).MAX_PROCESSES).toBe(1);
    for (const sqlite of [undefined, 'sqlite:./data/other.sqlite'])
      expect(faultsOf({ ...ENOUGH, DATABASE_URL: sqlite, MAX_PROCESSES: '2' })).toEqual([
        expect.stringMatching(/^MAX_PROCESSES must be 1 .*only one process can use a SQLite file/),
      ]);
    for (const MAX_PROCESSES of ['0', '1.5', 'many'])
      expect(faultsOf({ ...ENOUGH, DATABASE_URL, MAX_PROCESSES })).toEqual([
        expect.stringContaining('MAX_PROCESSES must be a whole number'),
      ]);
  });
});

describe('the OAuth settings for several workspaces', () => {
  const { SLACK_BOT_TOKEN: _token, ...rest } = ENOUGH;
  const oauth = {
    ...rest,
    SLACK_CLIENT_ID: '123.456',
    SLACK_CLIENT_SECRET: 'canary-client-secret',
    PUBLIC_URL: 'https://vps.test',
  };

  it('replace SLACK_BOT_TOKEN', () => {
    const config = parseConfig({ ...oauth, ALLOWED_WORKSPACES: 'T012AB3CD, E045EF6GH' });
    expect(config.ALLOWED_WORKSPACES).toEqual(['T012AB3CD', 'E045EF6GH']);
    expect(inspect(config, { depth: 9 })).not.toContain('canary-client-secret');
  });

  it.each<[string, Record<string, string>]>([
    ['SLACK_BOT_TOKEN', { SLACK_BOT_TOKEN: 'xoxb-1' }],
    ['SLACK_CLIENT_ID', { SLACK_CLIENT_ID: 'no client id' }],
    ['SLACK_CLIENT_SECRET', { SLACK_CLIENT_SECRET: '' }],
    ['ALLOWED_WORKSPACES', { ALLOWED_WORKSPACES: 'acme' }],
    ['OWNERS', { OWNERS: 'U012AB3CD' }],
    ['OWNERS', { OWNERS: 'T012AB3CD:U012AB3CD U045EF6GH' }],
  ])('are refused, naming %s, with %j', (name, change) => {
    expect(faultsOf({ ...oauth, ...change })).toEqual([expect.stringMatching(new RegExp(`^${name} `))]);
  });

  it.each([
    ['T1A2:U1A2,T1A2:W3A4', ['U1A2', 'W3A4'], []],
    ['T1A2 : U1A2;\n T9A9:U9A9', ['U1A2'], ['U9A9']],
    ['', [], []],
  ])('name the owners of each workspace: %j', (written, first, other) => {
    const { OWNERS } = parseConfig({ ...oauth, OWNERS: written });
    expect(listNamedOwners(OWNERS, 'T1A2')).toEqual(first);
    expect(listNamedOwners(OWNERS, 'T9A9')).toEqual(other);
  });

  it('need no workspace for OWNERS if there is only one', () => {
    const { OWNERS } = parseConfig({ ...ENOUGH, OWNERS: 'U1A2 T1A2:U3A4' });
    expect(listNamedOwners(OWNERS, 'T9A9')).toEqual(['U1A2']);
  });
});

describe('.env.example', () => {
  const example = parseEnvFile(readFileSync('.env.example', 'utf8'));

  it('leaves empty what an operator has to set, and is complete once they are set', () => {
    for (const name of ['SLACK_APP_TOKEN', 'OWNERS', ...Object.keys(ENOUGH)]) expect(example[name]).toBe('');
    expect(faultsOf({ ...example, ...ENOUGH })).toEqual([]);
  });

  it('has every setting and no others', () => {
    expect(Object.keys(example).sort()).toEqual([...listSettings()].sort());
  });

  it('shows the defaults', () => {
    expect(parseConfig({ ...example, ...ENOUGH })).toEqual(parseConfig(ENOUGH));
  });
});
