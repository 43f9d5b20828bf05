import type { Kysely, Migration } from 'kysely';
import { placeOfKey } from '../../account/key-store.ts';
import { placeOfPassword } from '../../purchases/password-store.ts';
import { keepHead, readChain } from '../audit-chain.ts';
import { hasSignedCreate } from '../audit-verify.ts';
import type { Queries } from '../database.ts';
import type { Tables } from '../tables.ts';
import type { SealedPlace, Vault } from '../vault.ts';

/**
 * Binds sealed rows to their owners and keeps the head of each audit chain beside it. What the first release sealed is
 * opened in its form here and nowhere else (docs/decisions/0012-sealed-rows-are-bound-to-their-owner.md).
 */
export function safety(vault: Vault): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .createTable('audit_heads')
        .addColumn('workspace_id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('head', 'text', (column) => column.notNull())
        .addColumn('signature', 'text', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('pings')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .execute();
      const tables: Queries = db.withTables<{ [Name in keyof Tables]: Tables[Name] }>();
      await keepHeads(tables, vault);
      await bindKeys(tables, vault);
      await bindPasswords(tables, vault);
    },
  };
}

async function keepHeads(db: Queries, vault: Vault): Promise<void> {
  const chains = await db.selectFrom('audit_chains').select('workspace_id').execute();
  for (const { workspace_id: id } of chains)
    await keepHead(db, vault, id, (await readChain(db, vault, id)).last);
}

async function bindKeys(db: Queries, vault: Vault): Promise<void> {
  for (const row of await db.selectFrom('api_keys').selectAll().execute()) {
    const sealed = sealAnew(vault, row.sealed, placeOfKey(row));
    if (sealed === undefined) continue;
    await db.updateTable('api_keys').set({ sealed }).where('workspace_id', '=', row.workspace_id).execute();
  }
}

/** The audit is signed, and says who created the server: a creator that it does not know is not believed. */
async function bindPasswords(db: Queries, vault: Vault): Promise<void> {
  for (const row of await db.selectFrom('passwords').selectAll().execute()) {
    const isProven = await hasSignedCreate(db, vault, row);
    const sealed = isProven ? sealAnew(vault, row.sealed, placeOfPassword(row)) : undefined;
    if (sealed === undefined) continue;
    await db.updateTable('passwords').set({ sealed }).where('operation_id', '=', row.operation_id).execute();
  }
}

/** Undefined for what does not open: it was altered, or its key is missing. It stays as it is, unreadable. */
function sealAnew(vault: Vault, sealed: string, { facts, ...place }: SealedPlace): string | undefined {
  try {
    return vault.seal(vault.open(sealed, place), facts ? { ...place, facts } : place);
  } catch {
    return undefined;
  }
}
