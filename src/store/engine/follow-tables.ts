import type { Selectable } from 'kysely';
import type { FollowedAction, FollowedStanding } from '../../domain/followed-act.ts';

/** What is followed until servers have settled. */
export interface FollowTables {
  act_messages: ActMessagesTable;
  followed_acts: FollowedActsTable;
  followed_servers: FollowedServersTable;
}

interface ActMessagesTable {
  id: string;
  workspace_id: string;
  channel_id: string;
  ts: string;
  until: number;
}

interface FollowedActsTable {
  id: string;
  workspace_id: string;
  action: FollowedAction;
  actor_id: string;
  channel_id: string | null;
  thread_ts: string | null;
  is_thread_open: number;
  key_generation: number;
  since: number;
  looked_at: number;
  passed_ms: number;
  is_measured: number;
  told: string;
  due_at: number;
  lease_owner: string;
  lease_until: number;
}

interface FollowedServersTable {
  act_id: string;
  server_id: number;
  workspace_id: string;
  /** Its place in the list of the act's servers. */
  place: number;
  label: string;
  standing: FollowedStanding;
  state: string | null;
  ipv4: string | null;
  paid_until: number | null;
  has_changed: number;
  settled_ms: number | null;
  superseded_by: string | null;
  superseded_action: string | null;
}

export type FollowedActRow = Selectable<FollowedActsTable>;
export type FollowedServerRow = Selectable<FollowedServersTable>;
