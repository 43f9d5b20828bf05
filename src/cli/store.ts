import { parseStoreConfig, type StoreConfig } from '../config.ts';
import { declareRestored, moveStore } from '../db/move-store.ts';
import { createVault, type Vault } from '../db/vault.ts';
import { realSystem } from '../system.ts';
import { note, type Program, print, readArguments, UsageError, wrongCommand } from './program.ts';

const USAGE = `Usage:
  vps-slack store copy --to postgres://user@host:5432/database
      Moves the SQLite database (DATABASE_URL) to an empty PostgreSQL database. Stop the app first.
      The password can be part of the address or in the variable PGPASSWORD.
  vps-slack store restored
      Marks the database (DATABASE_URL) as restored from a backup. Run it before you start the app on it: orders that the
      backup lists as confirmed or sent may have been paid since, so none is sent again.
  [--json]  for other programs`;

const OPTIONS = { to: { type: 'string' }, json: { type: 'boolean', default: false } } as const;

/** Copies the store to another database, or marks it as restored from a backup (docs/design.md 4.12). @throws UsageError */
async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, OPTIONS, { allowPositionals: true });
  const [name, ...rest] = positionals;
  const { to, json } = values;
  if (name !== 'copy' && name !== 'restored') throw wrongCommand(name, ['copy', 'restored']);
  if (rest.length > 0) throw new UsageError(`Unexpected argument: ${rest.join(' ')}`);
  if (name === 'copy' && to === undefined)
    throw new UsageError('Add --to with the address of the PostgreSQL database to copy to.');
  if (name === 'restored' && to !== undefined) throw new UsageError('restored takes no --to.');
  const config = parseStoreConfig(process.env);
  const vault = createVault(config.ENCRYPTION_KEYS);
  await (to === undefined ? restored(json, config, vault) : copy(to, json, config, vault));
}

async function copy(
  to: string,
  isJson: boolean,
  { DATABASE_URL: from, SPILL_DIR: spillDir }: StoreConfig,
  vault: Vault,
): Promise<void> {
  await moveStore({ from, to, spillDir, vault, system: realSystem, report: isJson ? note : print });
  if (isJson) print(JSON.stringify({ isMoved: true }));
}

async function restored(isJson: boolean, { DATABASE_URL }: StoreConfig, vault: Vault): Promise<void> {
  const { orders, approvals } = await declareRestored({
    databaseUrl: DATABASE_URL,
    vault,
    system: realSystem,
  });
  if (isJson) return print(JSON.stringify({ unconfirmedOrders: orders, canceledApprovals: approvals }));
  print(`Unconfirmed orders: ${orders}. Canceled requests for approval: ${approvals}.`);
  print(
    'Done. Start the app, and compare the hosting account with /vps list before anyone orders again. ' +
      'Forms that were opened before now are refused.',
  );
}

export const store: Program = { usage: USAGE, run };
