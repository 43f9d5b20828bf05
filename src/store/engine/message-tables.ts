import type { Selectable } from 'kysely';
import type { MessageCommand } from '../../domain/message-command.ts';

/** Commands in messages that are not answered yet. */
export interface MessageCommandsTable {
  id: string;
  workspace_id: string;
  user_id: string;
  home_team_id: string | null;
  kind: MessageCommand['kind'];
  channel_id: string;
  thread_ts: string | null;
  is_thread_open: number;
  name: string | null;
  received_at: number;
  has_begun: number;
  /** JSON of the servers that may have been changed. */
  servers: string;
  /** `lost`: its process crashed, and Slack has not accepted the message that says so. */
  state: 'working' | 'lost' | 'claimed';
  due_at: number;
}

export type MessageCommandRow = Selectable<MessageCommandsTable>;
