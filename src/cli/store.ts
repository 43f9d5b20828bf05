import { parseArgs } from 'node:util';
import { parseStoreConfig, type StoreConfig } from '../config.ts';
import { declareRestored, moveStore } from '../db/move-store.ts';
import { createVault, type Vault } from '../db/vault.ts';
import { realSystem } from '../system.ts';
import { parseOrExplain, print, runProgram, UsageError } from './program.ts';

const USAGE = `Usage:
  npm run store -- copy --to postgres://user@host:5432/database
      Moves the SQLite database (DATABASE_URL) to an empty PostgreSQL database. Stop the app first.
      The password can be part of the address or in the variable PGPASSWORD.
  npm run store -- restored
      Marks the database (DATABASE_URL) as restored from a backup. Run it before you start the app on it: orders that the
      backup lists as confirmed or sent may have been paid since, so none is sent again.`;

type Work = (config: StoreConfig, vault: Vault) => Promise<void>;

/** Copies the store to another database, or marks it as restored from a backup (docs/design.md 4.12). */
async function main(): Promise<void> {
  const work = parseCommand();
  const config = parseStoreConfig(process.env);
  await work(config, createVault(config.ENCRYPTION_KEYS));
}

/** @throws UsageError */
function parseCommand(): Work {
  const { values, positionals } = parseOrExplain(() =>
    parseArgs({ options: { to: { type: 'string' } }, allowPositionals: true }),
  );
  const [name, ...rest] = positionals;
  const { to } = values;
  if (name === undefined) throw new UsageError('Choose copy or restored.');
  if (name !== 'copy' && name !== 'restored')
    throw new UsageError(`There's no command "${name}". Choose copy or restored.`);
  if (rest.length > 0) throw new UsageError(`Unexpected argument: ${rest.join(' ')}`);
  if (name === 'copy') {
    if (to === undefined) throw new UsageError('Where to? Add --to and the address of a database.');
    return (config, vault) => copy(to, config, vault);
  }
  if (to !== undefined) throw new UsageError('restored takes no --to.');
  return restored;
}

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

runProgram(main, USAGE);
