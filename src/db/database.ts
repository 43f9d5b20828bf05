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

/**
 * Opens the engine that a `DATABASE_URL` names.
 * @throws DatabaseUnusable, DatabaseInUse
 */
export async function openEngine(databaseUrl: string, options: EngineOptions): Promise<Engine> {
  const [, scheme, rest = ''] = /^(sqlite|postgres(?:ql)?):(.+)$/is.exec(databaseUrl) ?? [];
  if (scheme?.toLowerCase() === 'sqlite') return openSqlite(rest, options);
  // Loaded only where it is used: most apps have SQLite.
  if (scheme) return (await import('./postgres.ts')).openPostgres(databaseUrl, options);
  // The address is not repeated: a mistyped one may hold a password.
  throw new DatabaseUnusable(
    'DATABASE_URL must be written like sqlite:./data/vps.sqlite or postgres://user:password@host:5432/database.',
  );
}
