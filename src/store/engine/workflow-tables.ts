import type { Selectable } from 'kysely';
import type { PowerAction } from '../../domain/server.ts';
import type { RunKey, RunState } from '../../domain/workflow-run.ts';

/** What the app's step in workflows needs. */
export interface WorkflowTables {
  workflow_keys: WorkflowKeysTable;
  workflow_runs: WorkflowRunsTable;
}

interface WorkflowKeysTable {
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
}

interface WorkflowRunsTable {
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
  /** When it was counted against the limit of a minute; 0 before. */
  admitted_at: number;
  pressed_by: string | null;
  card_channel_id: string | null;
  card_ts: string | null;
  outcome: string | null;
  outcome_details: string | null;
  is_told: number;
  due_at: number;
}

export type WorkflowKeyRow = Selectable<WorkflowKeysTable>;
export type WorkflowRunRow = Selectable<WorkflowRunsTable>;
