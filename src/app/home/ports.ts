import type { AccessRequests } from '../access/ports.ts';
import type { ApiKeys, Workspaces } from '../account/ports.ts';
import type { DecidablePorts } from '../approvals/list-decidable.ts';
import type { Installations } from '../authorize/ports.ts';
import type { Ledger, Passwords } from '../purchases/ports.ts';
import type { Reminders } from '../reminders/ports.ts';
import type { Protections } from '../servers/ports.ts';
import type { LastLists } from './last-servers.ts';

/** What Home reads. */
export interface HomePorts extends DecidablePorts {
  readonly accessRequests: Pick<AccessRequests, 'listOpen'>;
  readonly apiKeys: Pick<ApiKeys, 'find'>;
  readonly installations: Installations;
  readonly lastLists: LastLists;
  readonly ledger: Pick<Ledger, 'listOpen' | 'listCreated' | 'listPurchases'>;
  readonly passwords: Pick<Passwords, 'listHeld'>;
  readonly protections: Pick<Protections, 'find'>;
  readonly reminders: Pick<Reminders, 'listMarks'>;
  readonly workspaces: Pick<Workspaces, 'find'>;
}
