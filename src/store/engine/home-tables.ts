import type { Generated } from 'kysely';

export interface HomesTable {
  workspace_id: string;
  user_id: string;
  channel_id: string;
  page: number;
  opened_at: number;
  /** A ULID: what is shown was read at that time, or is being published. '' before it is noted. */
  shown: Generated<string>;
}
