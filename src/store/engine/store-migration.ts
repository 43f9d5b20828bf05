import type { Migration } from 'kysely';

/** A change of the schema, which the first start of a new version of the app makes. */
export interface StoreMigration extends Migration {
  /**
   * The newest migration that an older version of the app has to know to work with the schema after this one. Absent: no
   * older version can (docs/decisions/0020-versions-side-by-side.md).
   */
  readonly needs?: string;
}

/** Migrations by name. */
export type Migrations = Readonly<Record<string, StoreMigration>>;

/** The migrations of newer versions of the app that were executed, beside which this version can work. */
export type NewerMigrations = readonly string[];
