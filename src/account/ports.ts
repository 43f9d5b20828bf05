import type { AuditAction, AuditEntry, AuditProblem, StoredEntry } from '../core/audit-entry.ts';
import type { AccountNames, ChannelId, ConfirmationId, UserId, WorkspaceId } from '../core/ids.ts';
import type { Secret } from '../core/secret.ts';
import type { WorkspaceSettings } from '../core/settings.ts';
import type { Deciders } from '../requests/notify.ts';

/** A change of a workspace's API key. */
export interface KeyChange {
  readonly workspaceId: WorkspaceId;
  readonly actorId: UserId;
  readonly change: 'set' | 'removed';
}

/** Notifies owners of changes to the hosting account. Never throws. */
export interface AccountNotifier {
  notifyKeyChange(keyChange: KeyChange, owners: Deciders): Promise<void>;
}

/** A Slack workspace that the app works for. */
export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly settings: WorkspaceSettings;
}

/** Stores the workspaces and their settings. `at`: epoch milliseconds. */
export interface Workspaces {
  /** Adds a workspace, or updates its name. Settings stay. */
  put(workspace: { readonly id: string; readonly name: string }, at: number): Promise<void>;
  find(id: string): Promise<Workspace | undefined>;
  /** Replaces settings that are still `was`. False, and nothing is changed, if someone has saved others since. */
  changeSettings(id: string, was: WorkspaceSettings, settings: WorkspaceSettings): Promise<boolean>;
}

interface HeldKey {
  readonly key: Secret<string>;
  readonly setBy: string;
  /** The account that it opens, by all of its names. */
  readonly account: AccountNames;
}

/** Stores the API key of each workspace, sealed and bound to that workspace. */
export interface ApiKeys {
  /** @throws Refusal `key_unreadable` if `ENCRYPTION_KEYS` lacks the key that sealed it */
  find(workspaceId: string): Promise<HeldKey | undefined>;
  put(workspaceId: string, key: Secret<string>, setBy: string, at: number): Promise<void>;
  /** False if there was none. */
  remove(workspaceId: string): Promise<boolean>;
  listWorkspaces(): Promise<readonly string[]>;
}

/** A filter of audit entries; all given fields have to match. */
export interface AuditFilter {
  readonly workspaceId: string;
  readonly actorId?: string;
  /** Matches a label or an ID. */
  readonly server?: string;
  /** Matches only the ID. Another server's label may have the same digits. */
  readonly serverId?: number;
  readonly outcome?: AuditEntry['outcome'];
  readonly actions?: readonly AuditAction[];
  readonly seq?: number;
  /** Epoch milliseconds; `since` is inclusive, `until` is exclusive. */
  readonly since?: number;
  readonly until?: number;
  /** Only entries with a smaller number. */
  readonly before?: number;
  readonly limit: number;
}

/** The first altered entry of a chain; `seq` is its position. */
export interface AuditFault {
  readonly seq: number;
  readonly id?: string;
  readonly problem: AuditProblem;
  /** The problem in a sentence. */
  readonly words: string;
}

/** Whether a chain is unaltered. */
export type AuditVerdict =
  | {
      readonly ok: true;
      readonly entries: number;
      /** Numbers of the oldest and the newest entry; 0 when there is none. */
      readonly from: number;
      readonly to: number;
      readonly pruned?: { readonly count: number; readonly at: number };
    }
  | ({ readonly ok: false } & AuditFault);

/** How many entries of a workspace were removed, and the fault at which that stopped, if any. */
export interface PrunedWorkspace {
  readonly workspaceId: WorkspaceId;
  readonly removed: number;
  readonly fault?: AuditFault;
}

/** The number and the signature of a chain's newest entry. */
export interface AuditHead {
  readonly seq: number;
  readonly signature: string;
}

/** Stores the audit, one signed chain for each workspace. Times in epoch milliseconds. */
export interface AuditLog {
  add(entry: AuditEntry): Promise<void>;
  /** Newest first. */
  list(filter: AuditFilter): Promise<readonly StoredEntry[]>;
  /** Lists the acts of these `started` entries whose outcome is recorded. */
  listEnded(started: readonly StoredEntry[]): Promise<readonly string[]>;
  /** Oldest first, page by page. */
  read(filter: Omit<AuditFilter, 'before' | 'limit'>): AsyncIterable<StoredEntry>;
  /**
   * Verifies the chain of a workspace up to the first fault. With a head that was published earlier, the chain also has to
   * continue from it.
   */
  verify(workspaceId: string, published?: AuditHead): Promise<AuditVerdict>;
  /**
   * Lists the newest entry of every chain. With `withinMs`, only of chains that have grown within that time before the newest
   * entry of all.
   */
  listHeads(withinMs?: number): Promise<readonly (AuditHead & { readonly workspaceId: string })[]>;
  /**
   * Removes entries older than `before` in every workspace, and audits that. Keeps an altered entry and everything after it as
   * evidence.
   */
  prune(
    before: number,
    by: Pick<AuditEntry, 'at' | 'actorId' | 'surface'>,
  ): Promise<readonly PrunedWorkspace[]>;
  /** Workspaces that have or had entries. */
  listWorkspaces(): Promise<readonly string[]>;
}

/** What the app does in Slack besides answering users, if its setup allows it. */
export type SlackAbility =
  | 'direct_messages'
  | 'announcements'
  | 'user_lookups'
  | 'group_lookups'
  | 'channel_lookups';

/** Why Slack refuses an ability; `error` is Slack's code. */
export type SlackProblem =
  | { readonly code: 'messages_tab_disabled' }
  | { readonly code: 'missing_scope'; readonly scopes: readonly string[] }
  | { readonly code: 'token_refused'; readonly error: string }
  | { readonly code: 'restricted'; readonly error: string };

/** Slack's last answer about an ability; `untried` if there was none in the past hour. */
export type SeenAbility = 'works' | 'untried' | SlackProblem;

/** Slack's last answers about all abilities. */
export type SeenAbilities = Readonly<Record<SlackAbility, SeenAbility>>;

/** Reads what Slack was seen to allow in a workspace. In memory only. */
export interface SlackAbilities {
  read(workspaceId: WorkspaceId): SeenAbilities;
}

/** Reports in Slack what happened on the connect page. Never throws. */
export interface ConnectNotifier {
  /** Notifies the requester, where they requested the link, and the channel. `servers`: undefined if that isn't certain. */
  notifyConnected(link: LinkOrigin, servers: number | undefined): Promise<void>;
}

/** Where a link was requested. `confirmationId`: the hash under which the reply path is stored. */
interface LinkOrigin {
  readonly confirmationId: ConfirmationId;
  readonly workspaceId: WorkspaceId;
  readonly userId: UserId;
  readonly channelId?: ChannelId;
}

/** The purpose of a chosen channel. */
export type ChannelPurpose = 'approvals' | 'digest';

/** Tests whether the app can post to a channel. */
export interface ChannelTest {
  /** Posts a test message. `reason`: Slack's error code. */
  post(
    workspaceId: WorkspaceId,
    channelId: ChannelId,
    requestedBy: UserId,
    purpose: ChannelPurpose,
  ): Promise<{ readonly isPosted: true } | { readonly isPosted: false; readonly reason: string }>;
}
