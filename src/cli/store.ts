import { parseArgs } from 'node:util';
import { parseStoreConfig, type StoreConfig } from '../config.ts';
import { declareRestored } from '../store/declare-restored.ts';
import { moveStore } from '../store/move-store.ts';
import { realSystem } from '../system.ts';
import { createVault, parseKeyring, type Vault } from '../vault.ts';
import { eraseInstallation } from './erase-installation.ts';
import { parseOrExplain, parseWorkspaceId, print, runProgram, UsageError } from './program.ts';

const USAGE = `Usage:
  npm run store -- copy --to postgres://user@host:5432/database
      Moves the SQLite database (DATABASE_URL) to an empty PostgreSQL database. Stop the app first.
      The password can be part of the address or in the variable PGPASSWORD.
  npm run store -- restored
      Says that the database (DATABASE_URL) was restored from a backup. Run it before you start the app on it:
      orders that the backup has as confirmed or sent may have been paid since, so none of them is sent again.
  npm run store -- erase --workspace T…
      Erases the token, API keys, root passwords and roles of a workspace (T…) or an organization (E…) that has
      uninstalled the app, where Slack refuses the token without proving the uninstall. The app may be running.`;

type Work = (config: StoreConfig, vault: Vault) => Promise<void>;

/** Moves the store to another database, says that it was restored, or erases an installation in it. */
async function main(): Promise<void> {
  const work = parseCommand();
  const config = parseStoreConfig(process.env);
  await work(config, createVault(parseKeyring(config.ENCRYPTION_KEYS.reveal())));
}

/** @throws UsageError */
function parseCommand(): Work {
  const { values, positionals } = parseOrExplain(
    () => parseArgs({ options: { to: TEXT, workspace: TEXT }, allowPositionals: true }),
    USAGE,
  );
  const [name, ...rest] = positionals;
  if (name === undefined) throw new UsageError('Choose copy, restored or erase.', USAGE);
  const command = COMMANDS.get(name);
  if (!command) throw new UsageError(`There's no command "${name}". Choose copy, restored or erase.`, USAGE);
  if (rest.length > 0) throw new UsageError(`Unexpected argument: ${rest.join(' ')}`, USAGE);
  const stray = Object.keys(values).find((option) => option !== command.option);
  if (stray !== undefined) throw new UsageError(`${name} takes no --${stray}.`, USAGE);
  const value = command.option && values[command.option];
  if (command.option && value === undefined) throw new UsageError(command.question ?? '', USAGE);
  return command.begin(value ?? '');
}

const TEXT = { type: 'string' } as const;

interface Command {
  /** The one that it takes, and what to say where it is missing. */
  readonly option?: 'to' | 'workspace';
  readonly question?: string;
  /** Takes the option's value. @throws UsageError */
  readonly begin: (value: string) => Work;
}

const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  [
    'copy',
    {
      option: 'to',
      question: 'Where to? Add --to and the address of a database.',
      begin: (to) => (config, vault) => copy(to, config, vault),
    },
  ],
  ['restored', { begin: () => restored }],
  [
    'erase',
    {
      option: 'workspace',
      question: 'Which workspace? Add --workspace and its ID, such as T012AB3CD.',
      begin: (typed) => {
        const id = parseWorkspaceId(typed, USAGE);
        return (config, vault) => eraseInstallation(id, config, vault);
      },
    },
  ],
]);

async function copy(to: string, { DATABASE_URL: from, SPILL_DIR }: StoreConfig, vault: Vault): Promise<void> {
  await moveStore({ from, to, spillDir: SPILL_DIR, vault, system: realSystem, report: print });
}

async function restored({ DATABASE_URL, SPILL_DIR }: StoreConfig, vault: Vault): Promise<void> {
  const options = { databaseUrl: DATABASE_URL, spillDir: SPILL_DIR, vault, system: realSystem };
  const { orders, approvals } = await declareRestored(options);
  print(`Unconfirmed orders: ${orders}. Canceled requests for approval: ${approvals}.`);
  print(
    'Done. Start the app, and compare the hosting account with /vps list before anyone orders again. ' +
      'Forms that were opened before now are refused.',
  );
}

runProgram(main);
