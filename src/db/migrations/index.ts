import type { Migrations } from '../migrate.ts';
import type { Vault } from '../vault.ts';
import { firstTables } from './0001-first-tables.ts';
import { approvalReasons } from './0002-approval-reasons.ts';
import { locks } from './0003-locks.ts';
import { moneyProtocol } from './0004-money-protocol.ts';
import { safety } from './0005-safety.ts';
import { protectedServers } from './0007-protected-servers.ts';
import { accessAndApprovals } from './0008-access-and-approvals.ts';
import { moves } from './0009-moves.ts';
import { installations } from './0010-installations.ts';
import { accounts } from './0011-accounts.ts';
import { restoresAndVersions } from './0013-restores-and-versions.ts';
import { outcomeThreads } from './0014-outcome-threads.ts';
import { reminders } from './0015-reminders.ts';
import { serverNotes } from './0016-server-notes.ts';
import { followedActs } from './0017-followed-acts.ts';
import { homes } from './0018-homes.ts';
import { workflows } from './0019-workflows.ts';
import { refreshHistory } from './0020-refresh-history.ts';
import { messagesAndHomes } from './0021-messages-and-homes.ts';
import { keyChecks } from './0022-key-checks.ts';

/** The migrations by name, in order, other than those that need the vault. A list rather than a folder that is searched: it is the same in `dist`. */
export const MIGRATIONS: Migrations = {
  '0001-first-tables': firstTables,
  '0002-approval-reasons': approvalReasons,
  '0003-locks': locks,
  '0004-money-protocol': moneyProtocol,
};

/** Every migration by name, in order; what was sealed or signed in another form is rewritten by the vault. */
export function createMigrations(vault: Vault): Migrations {
  return {
    ...MIGRATIONS,
    '0005-safety': safety(vault),
    '0007-protected-servers': protectedServers,
    '0008-access-and-approvals': accessAndApprovals,
    '0009-moves': moves,
    '0010-installations': installations,
    '0011-accounts': accounts,
    '0013-restores-and-versions': restoresAndVersions,
    '0014-outcome-threads': outcomeThreads,
    '0015-reminders': reminders,
    '0016-server-notes': serverNotes,
    '0017-followed-acts': followedActs,
    '0018-homes': homes,
    '0019-workflows': workflows,
    '0020-refresh-history': refreshHistory,
    '0021-messages-and-homes': messagesAndHomes,
    '0022-key-checks': keyChecks,
  };
}
