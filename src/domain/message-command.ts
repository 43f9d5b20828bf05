import type { AuditAction } from './audit-action.ts';
import type { ChannelId, MessageCommandId, ServerId, UserId, WorkspaceId } from './ids.ts';
import type { Thread } from './thread.ts';

/** A server that a command in a message was about to change. */
export interface ChangedServer {
  readonly id: ServerId;
  readonly label: string;
}

/** A command in a message, as it is stored until its user has an answer. Nothing of what the user wrote is stored. */
export interface MessageCommand {
  readonly id: MessageCommandId;
  readonly workspaceId: WorkspaceId;
  readonly userId: UserId;
  /** As `Actor.homeTeamId`. */
  readonly homeTeamId?: WorkspaceId;
  readonly kind: 'mention' | 'direct_message';
  readonly channelId: ChannelId;
  /** Where the answer belongs. */
  readonly thread?: Thread;
  /** Which command it is; absent where the message names none of those that are audited under their name. */
  readonly name?: AuditAction;
  readonly receivedAt: number;
  /** It may have changed something. Until then, it is proven that it has not. */
  readonly hasBegun: boolean;
  /** The servers that it may have changed; empty where it has not begun, or changes something else. */
  readonly servers: readonly ChangedServer[];
}
