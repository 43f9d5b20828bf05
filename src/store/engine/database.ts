import type { Kysely, Transaction } from 'kysely';
import type { Vault } from '../../vault.ts';
import type { Engine, EngineOptions } from './engine.ts';
import { DatabaseUnusable } from './errors.ts';
import { openSqlite } from './sqlite-engine.ts';
import type { Tables } from './tables.ts';

/** What every part of the store works with. */
export interface Foundation {
  readonly db: Kysely<Tables>;
  readonly engine: Engine;
  readonly vault: Vault;
  /** An ID that is greater than every one that this process made before. */
  newId(): string;
}

/** The database, or a transaction on it. */
export type Queries = Kysely<Tables> | Transaction<Tables>;

const ENGINES: Readonly<Record<string, (place: string, options: EngineOptions) => Engine>> = {
  sqlite: openSqlite,
};

/**
 * Opens the engine that a `DATABASE_URL` names.
 * @throws DatabaseUnusable, DatabaseInUse
 */
export function openEngine(databaseUrl: string, options: EngineOptions): Engine {
  const colon = databaseUrl.indexOf(':');
  const scheme = databaseUrl.slice(0, Math.max(colon, 0)).toLowerCase();
  const place = databaseUrl.slice(colon + 1);
  if (scheme.startsWith('postgres')) {
    throw new DatabaseUnusable(
      'DATABASE_URL: PostgreSQL is not supported yet. Use sqlite:./data/vps.sqlite, which needs no server.',
    );
  }
  const open = Object.hasOwn(ENGINES, scheme) ? ENGINES[scheme] : undefined;
  // The address is not repeated: a mistyped one may hold a password.
  if (!open || place === '') {
    throw new DatabaseUnusable('DATABASE_URL must be written like sqlite:./data/vps.sqlite.');
  }
  return open(place, options);
}
