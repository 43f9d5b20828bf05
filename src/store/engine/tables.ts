import type { Generated, Selectable } from 'kysely';
import type { Grantee } from '../../domain/access.ts';
import type { Role } from '../../domain/actor.ts';
import type { AuditChainsTable, AuditHeadsTable, AuditTable } from './audit-tables.ts';
import type { AccessRequestsTable, ApprovalsTable } from './decision-tables.ts';
import type { FollowTables } from './follow-tables.ts';
import type { HomesTable } from './home-tables.ts';
import type { InstallationsTable, InstallationWorkspacesTable } from './installation-tables.ts';
import type { OperationsTable } from './operations-table.ts';
import type {
  DigestSnapshotsTable,
  DigestsTable,
  ReminderMarksTable,
  RenewalBatchesTable,
} from './reminder-tables.ts';
import type { ProtectedServersTable, ServerNotesTable } from './server-tables.ts';
import type { WorkflowTables } from './workflow-tables.ts';

/**
 * The columns as they are after the last migration. Portable types only, so that one schema serves every engine:
 * text (ULIDs, JSON), bigint (epoch milliseconds, hundredths), integer (counts, 0 or 1).
 */
export interface Tables extends FollowTables, WorkflowTables {
  workspaces: WorkspacesTable;
  workspace_versions: WorkspaceVersionsTable;
  key_checks: KeyChecksTable;
  api_keys: ApiKeysTable;
  account_names: AccountNamesTable;
  account_servers: AccountServersTable;
  grants: GrantsTable;
  access_requests: AccessRequestsTable;
  approvals: ApprovalsTable;
  operations: OperationsTable;
  passwords: PasswordsTable;
  audit: AuditTable;
  audit_chains: AuditChainsTable;
  audit_heads: AuditHeadsTable;
  connect_links: ConnectLinksTable;
  seen_requests: SeenRequestsTable;
  reply_urls: ReplyUrlsTable;
  outcome_threads: OutcomeThreadsTable;
  api_calls: ApiCallsTable;
  locks: LocksTable;
  pings: PingsTable;
  protected_servers: ProtectedServersTable;
  server_notes: ServerNotesTable;
  homes: HomesTable;
  moves: MovesTable;
  installations: InstallationsTable;
  installation_workspaces: InstallationWorkspacesTable;
  identities: IdentitiesTable;
  restores: RestoresTable;
  digests: DigestsTable;
  digest_snapshots: DigestSnapshotsTable;
  reminder_marks: ReminderMarksTable;
  renewal_batches: RenewalBatchesTable;
}

interface OutcomeThreadsTable {
  id: string;
  workspace_id: string;
  thread_ts: string;
  is_open: number;
  until: number;
}

interface WorkspacesTable {
  id: string;
  name: string;
  /** JSON of the settings that were changed; the others are as in `DEFAULT_SETTINGS`. */
  settings: string;
  added_at: number;
}

/** How often these have changed. */
interface WorkspaceVersionsTable {
  workspace_id: string;
  key_generation: Generated<number>;
  access_version: Generated<number>;
  settings_version: Generated<number>;
}

/** The keys of `ENCRYPTION_KEYS` that the app has used here. */
interface KeyChecksTable {
  key_id: string;
  value: string;
}

interface ApiKeysTable {
  workspace_id: string;
  sealed: string;
  set_by: string;
  set_at: number;
  /** The key's name; '' in rows of older versions until the key is used. */
  account: Generated<string>;
}

/** The names of keys that open the account of another one; the account is called by one of its names. */
interface AccountNamesTable {
  name: string;
  account: string;
}

/** Some servers that a key has last shown, each as a keyed hash of its ID, label and IPv4 address. */
interface AccountServersTable {
  name: string;
  proof: string;
}

interface GrantsTable {
  id: string;
  workspace_id: string;
  subject_kind: Grantee['subjectKind'];
  subject_id: string;
  role: Role;
  pattern: string;
  /** The pattern in lower case: it matches labels in any case. */
  pattern_key: string;
  granted_by: string;
  granted_at: number;
  /** 0 when it is permanent. */
  until: number;
  /** The role of a temporary grant, '' of a permanent one: a user can have one of each. */
  temporary_role: Role | '';
}

interface PasswordsTable {
  operation_id: string;
  workspace_id: string;
  creator_id: string;
  server_id: number;
  label: string;
  sealed: string;
  settled_at: number;
  /** NULL until its creator has asked to see it. */
  held_until: number | null;
}

interface ConnectLinksTable {
  token_hash: string;
  workspace_id: string;
  user_id: string;
  channel_id: string | null;
  expires_at: number;
  is_taken: number;
  tries: number;
}

interface SeenRequestsTable {
  id: string;
  seen_at: number;
}

interface ReplyUrlsTable {
  id: string;
  workspace_id: string;
  sealed: string;
  uses_left: number;
  until: number;
}

interface ApiCallsTable {
  id: string;
  account: string;
  at: number;
}

interface LocksTable {
  name: string;
  owner: string;
  until: number;
}

/** One row, written to see whether the database takes anything. */
interface PingsTable {
  id: string;
  at: number;
}

/** One row for each time that everything was moved from or to this database. */
interface MovesTable {
  id: string;
  /** The other database. */
  place: string;
  state: 'begun' | 'left' | 'arrived';
  at: number;
}

/** One row: an ID that the database was given once, and that each backup of it has. */
interface IdentitiesTable {
  name: 'store';
  id: string;
}

/** One row for each time that the database was put back to an earlier state. */
interface RestoresTable {
  /** A ULID: what was confirmed under a smaller one is older than the restore. */
  id: string;
  at: number;
  /** The order that was sent, and that the database no longer knew; '' where the operator said so. */
  order_id: string;
}

export type MoveRow = Selectable<MovesTable>;
export type VersionsRow = Selectable<WorkspaceVersionsTable>;
export type ApiKeyRow = Selectable<ApiKeysTable>;
export type GrantRow = Selectable<GrantsTable>;
export type OperationRow = Selectable<OperationsTable>;
export type PasswordRow = Selectable<PasswordsTable>;
export type AuditRow = Selectable<AuditTable>;
