import { parseStoreConfig } from '../config.ts';
import { declareRestored, moveStore } from '../db/move-store.ts';
import { createVault } from '../db/vault.ts';
import { realSystem } from '../system.ts';
import { type Program, print, readArguments, UsageError, wrongCommand } from './program.ts';

const USAGE = `Usage:
  vps-slack store copy --to postgres://user@host:5432/database
      Moves the SQLite database (DATABASE_URL) to an empty PostgreSQL database. Stop the app first.
      The password can be part of the address or in the variable PGPASSWORD.
  vps-slack store restored
      Marks the database (DATABASE_URL) as restored from a backup. Run it before you start the app on it: orders that the
      backup lists as confirmed or sent may have been paid since, so none is sent again.`;

const OPTIONS = { to: { type: 'string' } } as const;

/** Copies the store to another database, or marks it as restored from a backup (docs/design.md 4.12). @throws UsageError */
async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, OPTIONS, { allowPositionals: true });
  const [name, ...rest] = positionals;
  const { to } = values;
  if (name !== 'copy' && name !== 'restored') throw wrongCommand(name, store.commands);
  if (rest.length > 0) throw new UsageError(`Unexpected argument: ${rest.join(' ')}`);
  if (name === 'copy' && to === undefined)
    throw new UsageError('Add --to with the address of the PostgreSQL database to copy to.');
  if (name === 'restored' && to !== undefined) throw new UsageError('restored takes no --to.');
  const { DATABASE_URL, SPILL_DIR: spillDir, ENCRYPTION_KEYS } = parseStoreConfig(process.env);
  const shared = { spillDir, vault: createVault(ENCRYPTION_KEYS), system: realSystem };
  if (to !== undefined) return moveStore({ ...shared, from: DATABASE_URL, to, report: print });
  const { orders, approvals } = await declareRestored({ ...shared, databaseUrl: DATABASE_URL });
  print(`Unconfirmed orders: ${orders}. Canceled requests for approval: ${approvals}.`);
  print(
    'Done. Start the app, and compare the hosting account with /vps list before anyone orders again. ' +
      'Forms that were opened before now are refused.',
  );
}

export const store: Program = { usage: USAGE, commands: ['copy', 'restored'], options: OPTIONS, run };
