import type { Dialect, Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** A database engine: everything that differs between databases. */
export interface Engine {
  readonly dialect: Dialect;
  /** Whether this process may change the schema now; if not, it has to find the schema current. */
  readonly mayMigrate: boolean;
  /** Whether no other process can hold a lease, so that leases of a dead process can be freed at the start. */
  readonly isSoleProcess: boolean;
  /** Called when the schema is current. */
  markMigrated(): void;
  /** Whether a row that another transaction has locked can be skipped (`for update skip locked`). */
  readonly skipsLockedRows: boolean;
  /** Removes deleted data from the engine's own files, as far as it can. */
  scrub(db: Kysely<Tables>): Promise<void>;
  /** A name beside the database's files; absent for a database in memory. */
  readonly besidePath?: (ending: string) => string;
  /** Called after the last query. */
  close(): void;
}

export interface EngineOptions {
  /** Whether to hold the database against other processes for as long as it is open. */
  readonly lock: boolean;
}
