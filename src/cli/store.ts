import { parseArgs } from 'node:util';
import { parseStoreConfig } from '../config.ts';
import { moveStore } from '../store/move-store.ts';
import { realSystem } from '../system.ts';
import { createVault, parseKeyring } from '../vault.ts';
import { parseOrExplain, print, runProgram, UsageError } from './program.ts';

const USAGE = `Usage:
  npm run store -- copy --to postgres://user@host:5432/database
      Moves the SQLite database (DATABASE_URL) to an empty PostgreSQL database. Stop the app first.
      The password can be part of the address or in the variable PGPASSWORD.`;

/** Moves the store to another database. */
async function main(): Promise<void> {
  const to = parseTarget();
  const { ENCRYPTION_KEYS, DATABASE_URL, SPILL_DIR } = parseStoreConfig(process.env);
  const vault = createVault(parseKeyring(ENCRYPTION_KEYS.reveal()));
  const from = DATABASE_URL;
  await moveStore({ from, to, spillDir: SPILL_DIR, vault, system: realSystem, report: print });
}

/** @throws UsageError */
function parseTarget(): string {
  const { values, positionals } = parseOrExplain(
    () => parseArgs({ options: { to: { type: 'string' } }, allowPositionals: true }),
    USAGE,
  );
  const [command, ...rest] = positionals;
  if (command === undefined) throw new UsageError('Choose copy.', USAGE);
  if (command !== 'copy') throw new UsageError(`There's no command "${command}". Choose copy.`, USAGE);
  if (rest.length > 0) throw new UsageError(`Unexpected argument: ${rest.join(' ')}`, USAGE);
  if (values.to === undefined)
    throw new UsageError('Where to? Add --to and the address of a database.', USAGE);
  return values.to;
}

runProgram(main);
