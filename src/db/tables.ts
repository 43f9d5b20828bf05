import type { Generated, Selectable } from 'kysely';
import type { AuditEntry } from '../core/audit-entry.ts';
import type { Grantee, Role } from '../core/roles.ts';
import type { PowerAction } from '../core/server.ts';
import type { Purchase } from '../purchases/operation.ts';
import type { Request, RequestState } from '../requests/request.ts';
import type { RunKey, RunState } from '../workflows/run.ts';

/** The columns of `schema.ts`, and what they mean. */
export interface Tables {
  workspaces: {
    id: string;
    name: string;
    /** JSON of the settings that were changed; the others are as in `DEFAULT_SETTINGS`. */
    settings: string;
  };
  /** What is known of the database itself. It is moved with the data. */
  facts: {
    /**
     * `key`: a key of `ENCRYPTION_KEYS` that the app has used here, by its ID, with its check value.
     * `restored`: the database was put back to an earlier state. The ID is a ULID: what was confirmed under a smaller one is
     * older than that.
     * `left`: everything was moved to the database that the value names. `arriving`: it was copied from that one, which may still
     * be in use.
     * `ping`: one row, written to see whether the database takes anything.
     */
    kind: 'key' | 'restored' | 'left' | 'arriving' | 'ping';
    id: string;
    value: string;
    at: number;
  };
  api_keys: {
    workspace_id: string;
    sealed: string;
    set_by: string;
    set_at: number;
  };
  grants: {
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
  };
  /** What a user has requested and others decide: approvals of purchases and deletes, and roles. */
  requests: {
    id: string;
    workspace_id: string;
    kind: Request['kind'];
    requester_id: string;
    channel_id: string | null;
    /** JSON: exactly what is asked for. */
    subject: string;
    /** What only one open request of a workspace may be about; '' for a create, and when it is no longer open. */
    claim: string;
    is_over_budget: number;
    /** The first name of the key of the workspace at that time; '' without a key. */
    account: string;
    asked_at: number;
    expires_at: number;
    state: RequestState;
    decided_by: string | null;
    /** When it stopped being open, for any reason. */
    decided_at: number | null;
    denial_reason: string | null;
    /** Why it was canceled. */
    outcome: string | null;
    /** JSON of the role that was granted and when it ends; NULL where none was. */
    granted: string | null;
    /** 0 while users have not been notified of this state. */
    is_told: Generated<number>;
    /** JSON. */
    cards: Generated<string>;
  };
  /** One confirmation by one user, and its outcome. */
  operations: {
    id: string;
    workspace_id: string;
    actor_id: string;
    channel_id: string | null;
    kind: Purchase['kind'] | 'delete';
    /** JSON of the `Purchase`, or of the `Deletion`. */
    purchase: string;
    /** '' when it claims nothing, or has released its claim. */
    claim: string;
    state: 'prepared' | 'sent' | 'settled' | 'refused' | 'unconfirmed';
    price: number | null;
    /** JSON. */
    known_ids: Generated<string>;
    server_id: number | null;
    paid_until: number | null;
    reason: string | null;
    /** JSON. */
    reason_details: string | null;
    has_password: Generated<number>;
    needs_person: Generated<number>;
    created_at: number;
    sent_at: number | null;
    ended_at: number | null;
    /** 0 while the actor has not been notified of this state. */
    told_at: Generated<number>;
    /** The owner of its job that sent its request; '' before that. */
    sent_by: Generated<string>;
    attempt: Generated<number>;
    /** After this it may not be marked as sent any more. */
    send_by: number;
    /** The first name of the workspace's key; once it was sent, of the one that it was sent with. '' without a key. */
    account: string;
    is_late: Generated<number>;
    decided_by: string | null;
    /** An answer without a recognized password, sealed, until its server is found. */
    sealed_answer: string | null;
  };
  passwords: {
    operation_id: string;
    workspace_id: string;
    creator_id: string;
    server_id: number;
    label: string;
    sealed: string;
    settled_at: number;
    /** NULL until its creator has asked to see it. */
    held_until: number | null;
  };
  /** One chain for each workspace; the key is (workspace_id, seq). */
  audit: {
    workspace_id: string;
    /** 1, 2, 3 … within the workspace. */
    seq: number;
    /** A ULID, by which the export names it. */
    id: string;
    /** The MAC of the entry before it, '' in the first; `head …` where that entry could not be proven (audit.ts). */
    previous: string;
    /** Of all the other columns. */
    mac: string;
    at: number;
    actor_id: string;
    channel_id: string | null;
    surface: AuditEntry['surface'];
    action: string;
    act_id: string;
    server_id: number | null;
    /** Of the server. */
    label: string | null;
    /** The label in lower case; made by us because engines differ in which letters they know. */
    label_key: string;
    outcome: AuditEntry['outcome'];
    code: string | null;
    operation_id: string | null;
    money: number | null;
    /** JSON of `AuditDetails`. */
    details: string | null;
  };
  /** Where each chain ends and begins. The row is locked before an entry is added, and before pruning. */
  audit_heads: {
    workspace_id: string;
    /** Of the newest entry. */
    seq: number;
    mac: string;
    /** Of the newest entry's number and MAC. */
    signature: string;
    /** Of the newest entry that was pruned; 0 and '' before the first pruning. */
    pruned_seq: Generated<number>;
    pruned_mac: Generated<string>;
    pruned_at: Generated<number>;
    pruned_signature: Generated<string>;
  };
  /** Things that are kept until a time, and that a payment never waits for: slots of the limit have a table of their own. */
  kept: {
    /** Connect links go by the hash of their token, what was seen by its own ID, the others by that of the form or act. */
    kind: 'connect_link' | 'message' | 'reply_url' | 'seen' | 'thread';
    id: string;
    /** '' of what was seen, which outlives an uninstall. */
    workspace_id: string;
    /** Sealed for a reply URL; JSON for the others; '' of what was seen. */
    value: string;
    /** Of a reply URL; 0 for the others. */
    uses_left: number;
    until: number;
  };
  /** The taken slots of the minute. */
  api_calls: {
    id: string;
    /** The first name of the key. */
    account: string;
    workspace_id: string;
    at: number;
  };
  jobs: {
    kind: string;
    /** Names the job within its kind. */
    key: string;
    workspace_id: string;
    /** JSON. */
    payload: string;
    /** Increments when it is asked for again: a run deletes only what it has read. */
    revision: number;
    due_at: number;
    /** When the time was set; later than now if the clock was set back since. */
    asked_at: number;
    attempts: number;
    /** The process that has leased it; '' without one. */
    owner: string;
    lease_until: number;
  };
  /**
   * What teams have noted about their servers, which ones owners have protected, and what was decided about the reminders for a
   * month; the last two outlive an uninstall.
   */
  server_notes: {
    kind: 'note' | 'protection' | 'reminder';
    workspace_id: string;
    server_id: number;
    /** JSON. */
    value: string;
  };
  homes: {
    workspace_id: string;
    user_id: string;
    channel_id: string;
    page: number;
    opened_at: number;
  };
  /** One row for each workspace or organization in which the app was ever installed by OAuth. */
  installations: {
    /** The team, or the enterprise when it is installed for the whole organization. */
    id: string;
    is_org: number;
    /** The organization that the workspace belongs to. */
    enterprise_id: string | null;
    name: string;
    /** Counts the installs: tokens of an earlier one are never mistaken for this one's. */
    generation: number;
    installed_by: string;
    installed_at: number;
    /** JSON of the tokens, sealed; NULL when the app was uninstalled. */
    sealed: string | null;
    /** When the bot token expires; 0 without token rotation. */
    expires_at: number;
    /** Slack has permanently rejected the refresh token; only another install helps. */
    is_refresh_refused: number;
    /** Slack refused the bot token itself when it was last used. */
    is_token_refused: number;
    /** When an event said that it was uninstalled, until that is confirmed or disproved; otherwise 0. */
    revoked_at: number;
  };
  /** Which installation serves a workspace: its own, or that of its organization. */
  installation_workspaces: {
    workspace_id: string;
    installation_id: string;
    /** 0 once its organization has taken the app from it: it is still erased with the organization's installation. */
    is_served: Generated<number>;
  };
  /** One row for each workspace that has ever had a digest. */
  digests: {
    workspace_id: string;
    /** The last day that was claimed, like 2026-01-31, in the digest's time zone; '' once its claim was released. */
    day: string;
    /** The first name of the key with which the servers in `value` were seen; '' before that. */
    account: string;
    /** JSON of `DigestRecord`. */
    value: string;
  };
  workflow_keys: {
    id: string;
    workspace_id: string;
    name: string;
    /** The name in lower case. */
    name_key: string;
    /** Of the key and its workspace; it opens nothing. */
    hash: string;
    /** Separated by commas. */
    actions: string;
    pattern: string;
    issued_by: string;
    issued_at: number;
    until: number | null;
    last_used_at: number | null;
  };
  workflow_runs: {
    id: string;
    workspace_id: string;
    execution_id: string;
    action: PowerAction | null;
    label: string;
    key_kind: RunKey['kind'];
    /** '' without a key. */
    key_id: string;
    key_name: string;
    channel_id: string | null;
    /** The token that Slack gave for this run alone; erased when the run is over. */
    sealed_token: string | null;
    state: RunState;
    received_at: number;
    pressed_by: string | null;
    card_channel_id: string | null;
    card_ts: string | null;
    outcome: string | null;
    outcome_details: string | null;
  };
}

export type KeptRow = Selectable<Tables['kept']>;
export type JobRow = Selectable<Tables['jobs']>;
export type FactRow = Selectable<Tables['facts']>;
export type ApiKeyRow = Selectable<Tables['api_keys']>;
export type GrantRow = Selectable<Tables['grants']>;
export type OperationRow = Selectable<Tables['operations']>;
export type PasswordRow = Selectable<Tables['passwords']>;
export type AuditRow = Selectable<Tables['audit']>;
export type RequestRow = Selectable<Tables['requests']>;
export type InstallationRow = Selectable<Tables['installations']>;
export type WorkflowKeyRow = Selectable<Tables['workflow_keys']>;
export type WorkflowRunRow = Selectable<Tables['workflow_runs']>;
