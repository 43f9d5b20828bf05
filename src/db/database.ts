import type { Kysely, Transaction } from 'kysely';
import { DatabaseUnusable, type Engine, type EngineOptions } from './engine.ts';
import { openSqlite } from './sqlite.ts';
import type { Tables } from './tables.ts';
import type { Vault } from './vault.ts';

export interface Foundation {
  readonly db: Kysely<Tables>;
  readonly engine: Engine;
  readonly vault: Vault;
  /** An ID that is greater than every one that this process made before. */
  newId(): string;
}

export type Queries = Kysely<Tables> | Transaction<Tables>;

type Open = (databaseUrl: string, options: EngineOptions) => Engine | Promise<Engine>;

const ENGINES: Readonly<Record<string, Open>> = {
  sqlite: (databaseUrl, options) => openSqlite(databaseUrl.slice('sqlite:'.length), options),
  postgres: openPostgres,
  postgresql: openPostgres,
};

/** Loaded only where it is used: most apps have SQLite. */
async function openPostgres(databaseUrl: string, options: EngineOptions): Promise<Engine> {
  return (await import('./postgres.ts')).openPostgres(databaseUrl, options);
}

/**
 * Opens the engine that a `DATABASE_URL` names.
 * @throws DatabaseUnusable, DatabaseInUse
 */
export async function openEngine(databaseUrl: string, options: EngineOptions): Promise<Engine> {
  const scheme = databaseUrl.slice(0, Math.max(databaseUrl.indexOf(':'), 0)).toLowerCase();
  const open = Object.hasOwn(ENGINES, scheme) ? ENGINES[scheme] : undefined;
  // The address is not repeated: a mistyped one may hold a password.
  if (!open || databaseUrl.length === scheme.length + 1) {
    throw new DatabaseUnusable(
      'DATABASE_URL must be written like sqlite:./data/vps.sqlite or postgres://user:password@host:5432/database.',
    );
  }
  return open(databaseUrl, options);
}
