import type { Migration } from 'kysely';
import { firstTables } from './0001-first-tables.ts';
import { approvalReasons } from './0002-approval-reasons.ts';
import { locks } from './0003-locks.ts';
import { moneyProtocol } from './0004-money-protocol.ts';

/** Every migration by name, in order. A list rather than a folder that is searched: it is the same in `dist`. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-first-tables': firstTables,
  '0002-approval-reasons': approvalReasons,
  '0003-locks': locks,
  '0004-money-protocol': moneyProtocol,
};
