import type { AuditAction, AuditEntry, AuditProblem, StoredEntry } from '../core/audit-entry.ts';
import type { AuditEntryId, ChannelId, ConfirmationId, UserId, WorkspaceId } from '../core/ids.ts';
import type { Secret } from '../core/secret.ts';
import type { WorkspaceSettings } from '../core/settings.ts';
import type { Deciders } from '../requests/decision.ts';

/** The API key of a workspace was set or removed. */
export interface KeyChange {
  readonly workspaceId: WorkspaceId;
  readonly actorId: UserId;
  readonly change: 'set' | 'removed';
}

/** Notifies owners of changes to the hosting account. Never throws. */
export interface AccountNotifier {
  notifyKeyChange(keyChange: KeyChange, owners: Deciders): Promise<void>;
}

export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly settings: WorkspaceSettings;
}

export interface Workspaces {
  /** Adds it, or updates its name. Settings stay. */
  put(workspace: { readonly id: string; readonly name: string }, at: number): Promise<void>;
  find(id: string): Promise<Workspace | undefined>;
  /** False, and nothing is changed, when another user has saved other settings since. */
  changeSettings(id: string, was: WorkspaceSettings, settings: WorkspaceSettings): Promise<boolean>;
}

interface HeldKey {
  readonly key: Secret<string>;
  readonly setBy: string;
  /** How often the workspace's key has been set or removed: another number, another key (`confirmed-account.ts`). */
  readonly generation: number;
}

/** The account's API key of each workspace, sealed and bound to that workspace. */
export interface ApiKeys {
  /** @throws Refusal `key_unreadable` when the keyring has lost the key that sealed it */
  find(workspaceId: string): Promise<HeldKey | undefined>;
  put(workspaceId: string, key: Secret<string>, setBy: string, at: number): Promise<void>;
  remove(workspaceId: string): Promise<boolean>;
  listWorkspaces(): Promise<readonly string[]>;
}

/** The one-time links of `/vps connect`. Only a hash of the token is stored. */
export interface ConnectLinks {
  put(link: ConnectLink): Promise<void>;
  find(tokenHash: string): Promise<ConnectLink | undefined>;
  /** Takes the link for one try. False if it was used, is in use, or has no tries left. */
  take(tokenHash: string, now: number): Promise<boolean>;
  /** The try failed: the link may be used again. */
  giveBack(tokenHash: string): Promise<void>;
  removeExpired(now: number): Promise<void>;
}

export interface ConnectLink {
  readonly tokenHash: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly channelId?: string;
  readonly expiresAt: number;
  readonly isUsed?: boolean;
}

export interface AuditFilter {
  readonly workspaceId: string;
  readonly actorId?: string;
  /** Matches a label or an id. */
  readonly server?: string;
  /** Matches only the ID: another server's label may be the same digits. */
  readonly serverId?: number;
  readonly outcome?: AuditEntry['outcome'];
  readonly actions?: readonly AuditAction[];
  readonly id?: AuditEntryId;
  /** Epoch milliseconds; `since` is inclusive, `until` is exclusive. */
  readonly since?: number;
  readonly until?: number;
  readonly before?: string;
  readonly limit: number;
}

/** The first entry of a chain that was altered; `seq` is its position. */
export interface AuditFault {
  readonly seq: number;
  readonly id?: string;
  readonly problem: AuditProblem;
  /** The problem in a sentence. */
  readonly words: string;
}

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

/** How many entries of a workspace were removed, and the fault at which removing stopped. */
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

export interface AuditLog {
  add(entry: AuditEntry): Promise<void>;
  /** Newest first. */
  list(filter: AuditFilter): Promise<readonly StoredEntry[]>;
  /** The acts among those of these `started` entries whose outcome is recorded. */
  listEnded(started: readonly StoredEntry[]): Promise<readonly string[]>;
  /** Oldest first, page by page. */
  read(filter: Omit<AuditFilter, 'before' | 'limit'>): AsyncIterable<StoredEntry>;
  /**
   * Goes through the chain of a workspace; stops at the first fault. With a head that was published earlier, the chain
   * also has to go on from there.
   */
  verify(workspaceId: string, published?: AuditHead): Promise<AuditVerdict>;
  /**
   * The newest entry of every chain, to be published; with `withinMs`, of every chain that has grown within so many milliseconds
   * before the newest entry of all.
   */
  listHeads(withinMs?: number): Promise<readonly (AuditHead & { readonly workspaceId: string })[]>;
  /**
   * Removes older entries in every workspace, and audits that. An altered entry and everything after it is kept as
   * evidence.
   */
  prune(
    before: number,
    by: Pick<AuditEntry, 'at' | 'actorId' | 'surface'>,
  ): Promise<readonly PrunedWorkspace[]>;
  /** Workspaces that have entries, or had. */
  listWorkspaces(): Promise<readonly string[]>;
}

/** What the app does in Slack besides answering users, each of which the way it is set up may forbid. */
export type SlackAbility =
  | 'direct_messages'
  | 'announcements'
  | 'user_lookups'
  | 'group_lookups'
  | 'channel_lookups';

/** Why Slack refuses it; `error` is Slack's code. */
export type SlackProblem =
  | { readonly code: 'messages_tab_disabled' }
  | { readonly code: 'missing_scope'; readonly scopes: readonly string[] }
  | { readonly code: 'token_refused'; readonly error: string }
  | { readonly code: 'restricted'; readonly error: string };

/** What Slack last said about an ability; `untried` when it said nothing in the past hour. */
export type SeenAbility = 'works' | 'untried' | SlackProblem;

export type SeenAbilities = Readonly<Record<SlackAbility, SeenAbility>>;

/** What Slack was seen to allow the app in a workspace. */
export interface SlackAbilities {
  read(workspaceId: WorkspaceId): SeenAbilities;
}

/** Reports to Slack what happened on the connect page. */
export interface ConnectNotifier {
  /** To the user who requested the link, where they requested it, and to the channel. */
  notifyConnected(link: LinkOrigin, servers: number | undefined): Promise<void>;
}

/** `confirmationId`: the hash under which the link's reply path is stored. */
interface LinkOrigin {
  readonly confirmationId: ConfirmationId;
  readonly workspaceId: WorkspaceId;
  readonly userId: UserId;
  readonly channelId?: ChannelId;
}

/** What a channel was chosen for. */
export type ChannelPurpose = 'approvals' | 'digest';

/** Tests whether the app can post to a channel. */
export interface ChannelTest {
  /** `reason` is Slack's error code. */
  post(
    workspaceId: WorkspaceId,
    channelId: ChannelId,
    requestedBy: UserId,
    purpose: ChannelPurpose,
  ): Promise<{ readonly isPosted: true } | { readonly isPosted: false; readonly reason: string }>;
}
