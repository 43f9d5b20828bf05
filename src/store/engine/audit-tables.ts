import type { AuditEntry } from '../../domain/audit-entry.ts';

export interface AuditTable {
  /** A ULID: its order is the order of the log. */
  id: string;
  workspace_id: string;
  /** 1, 2, 3 … within the workspace. */
  seq: number;
  /** The signature of the entry before it; '' in the first. */
  previous: string;
  /** Of all the other columns. */
  signature: string;
  at: number;
  actor_id: string;
  channel_id: string | null;
  surface: AuditEntry['surface'];
  action: string;
  act_id: string;
  server_id: number | null;
  label: string | null;
  /** The label in lower case; made by us because engines differ in which letters they know. */
  label_key: string;
  outcome: AuditEntry['outcome'];
  code: string | null;
  operation_id: string | null;
  money: number | null;
}

/** One row for each workspace, which is locked before an entry is added. */
export interface AuditChainsTable {
  workspace_id: string;
  /** JSON: where the chain begins and ends. */
  ends: string;
  /** Of `ends`; '' when what stood here was not signed. */
  signature: string;
}

/** The newest entry of each chain once more: a chain that was put back to an earlier state differs from it. */
export interface AuditHeadsTable {
  workspace_id: string;
  /** JSON of its number and its signature. */
  head: string;
  /** Of `head`. */
  signature: string;
}
