import type { ChannelId, UserId, WorkspaceId } from '../../domain/ids.ts';
import type { AccessRequests } from '../access/ports.ts';
import type { ApiKeys, Workspaces } from '../account/ports.ts';
import type { DecidablePorts } from '../approvals/list-decidable.ts';
import type { Installations } from '../authorize/ports.ts';
import type { Ledger, Passwords } from '../purchases/ports.ts';
import type { Reminders } from '../reminders/ports.ts';
import type { Protections } from '../servers/ports.ts';
import type { LastLists } from './last-servers.ts';

/** The Home tab of one user, as they opened it last. */
export interface OpenedHome {
  /** The user's own conversation with the app. */
  readonly channelId: ChannelId;
  /** Of the list of servers; from 0. */
  readonly page: number;
  /** Epoch milliseconds. */
  readonly openedAt: number;
}

/** Who has opened the app's Home, for the welcome and so that any process can refresh it later. */
export interface Homes {
  find(workspaceId: WorkspaceId, userId: UserId): Promise<OpenedHome | undefined>;
  /** Replaces what was stored for the user. */
  put(workspaceId: WorkspaceId, userId: UserId, opened: OpenedHome): Promise<void>;
}

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
