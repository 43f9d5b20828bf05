import type { AuditAction } from './audit-action.ts';
import type { AuditCode } from './audit-code.ts';
import type { AuditEntryId, ChannelId, ConfirmationId, ServerId, UserId, WorkspaceId } from './ids.ts';
import type { Money } from './money.ts';

/** How a request reached the app. `command_line` is what the first release wrote for `cli`. */
export type Surface =
  | 'command'
  | 'button'
  | 'modal'
  | 'shortcut'
  | 'mention'
  | 'direct_message'
  | 'home'
  | 'page'
  | 'background'
  | 'workflow'
  | 'cli'
  | 'command_line';

/** What an audit entry is about, as far as it is known. */
export interface AuditSubject {
  readonly serverId?: ServerId;
  readonly label?: string;
  readonly money?: Money;
  readonly operationId?: ConfirmationId;
}

/** One attempt at something, allowed or not. Ids only: no secrets, no names. */
export interface AuditEntry extends AuditSubject {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly workspaceId: WorkspaceId;
  readonly actorId: UserId;
  readonly channelId?: ChannelId;
  readonly surface: Surface;
  readonly action: AuditAction;
  /** Entries of one act share it: `started`, then its outcome. */
  readonly actId: string;
  readonly outcome: 'started' | 'done' | 'failed' | 'denied' | 'in_doubt';
  readonly code?: AuditCode;
}

/** An entry as it is stored: numbered 1, 2, 3 … within its workspace, and signed for that position. */
export interface StoredEntry extends Omit<AuditEntry, 'action' | 'code' | 'outcome' | 'surface'> {
  readonly id: AuditEntryId;
  readonly seq: number;
  readonly signature: string;
  /** Another version of the app may have written one that this version doesn't know; so with the next three. */
  readonly action: string;
  readonly surface: string;
  readonly outcome: string;
  readonly code?: string;
}
