import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openStore } from '../../src/db/open-store.ts';
import { createVault, parseKeyring } from '../../src/db/vault.ts';
import type { Fields, Log } from '../../src/log.ts';
import type { Hosting } from '../../src/sandbox/hosting/start.ts';
import { realSystem } from '../../src/system.ts';
import { APP_TOKEN, BOT_TOKEN, SIGNING_SECRET } from './environment.ts';
import { type Exemptions, findViolations } from './invariants.ts';
import { type Observed, observe } from './records.ts';
import type { LocalSlack } from './slack/local-slack.ts';

/** Watches a team from its start, and judges it when its app has ended. */
export interface Watch {
  /** Another workspace with the same app. */
  add(slack: LocalSlack): void;
  /** A log that is remembered as well. */
  listenTo(log: Log): Log;
  /** Everything that is not as it has to be, in sentences. */
  judge(exempt?: Exemptions): Promise<readonly string[]>;
}

export function watchTeam({
  slack,
  hosting,
  environment,
  folder,
  secrets,
  output = () => '',
}: {
  readonly slack: LocalSlack;
  readonly hosting: Hosting;
  readonly environment: Readonly<Record<string, string>>;
  /** Where the app keeps its files. */
  readonly folder: string;
  readonly secrets: Readonly<Record<string, string>>;
  /** What processes of the app have written. */
  readonly output?: () => string;
}): Watch {
  const slacks: LocalSlack[] = [];
  const observed: Observed = { shown: [], confirmations: new Map() };
  const lines: string[] = [];
  const add = (one: LocalSlack) => {
    slacks.push(one);
    observe(one, observed);
  };
  add(slack);
  const all = {
    ...secrets,
    ...SECRETS,
    'the encryption key': environment.ENCRYPTION_KEYS?.split(':')[1] ?? '',
  };
  return {
    add,
    listenTo: (log) => {
      const remember =
        (level: keyof Log) =>
        (words: string, fields: Fields = {}) => {
          lines.push(`${words} ${JSON.stringify(fields)}`);
          log[level](words, fields);
        };
      return {
        debug: remember('debug'),
        info: remember('info'),
        warn: remember('warn'),
        error: remember('error'),
      };
    },
    judge: async (exempt) => {
      const log = `${lines.join('\n')}\n${output()}`;
      const files = await readBytes(folder);
      const listHeld = () => listHeldPasswords(environment, slacks);
      const { shown } = observed;
      const confirmations = [...observed.confirmations.values()];
      const records = { hosting, slacks, shown, confirmations, log, files, secrets: all, listHeld };
      return findViolations(records, exempt);
    },
  };
}

/** @throws an error that names them all, if there are any */
export function failOn(violations: readonly string[]): void {
  if (violations.length > 0) throw new Error(`invariants are broken:\n${violations.join('\n')}`);
}

/** Those of every team of a test. */
export const SECRETS = {
  'the signing secret': SIGNING_SECRET,
  'the bot token': BOT_TOKEN,
  'the app-level token': APP_TOKEN,
};

/** Everything in a folder, as Latin 1. */
async function readBytes(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  // SQLite removes some of its files when the last connection closes.
  const texts = await Promise.all(paths.map((path) => readFile(path, 'latin1').catch(() => '')));
  return texts.join('\n');
}

/** Reads in the database itself: no process runs any more. */
async function listHeldPasswords(
  {
    DATABASE_URL: databaseUrl = '',
    ENCRYPTION_KEYS = '',
    SPILL_DIR: spillDir,
  }: Readonly<Record<string, string>>,
  slacks: readonly LocalSlack[],
): Promise<readonly number[]> {
  const vault = createVault(parseKeyring(ENCRYPTION_KEYS));
  const spill = spillDir === undefined ? {} : { spillDir };
  const store = await openStore({ databaseUrl, vault, system: realSystem, ...spill });
  const held = await Promise.all(slacks.map(({ team }) => store.passwords.listHeld(team.id)));
  await store.close();
  return held.flat().map(({ serverId }) => serverId);
}
