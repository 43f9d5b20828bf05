import type { OperationRefusalDetails, UnconfirmedDetails } from '../purchases/operation.ts';
import type { CancelDetails, DeleteEndDetails } from '../requests/request.ts';
import type { HostingCode, RefusalCode } from './errors.ts';
import type { AuditEntryId, ChannelId, ConfirmationId, ServerId, UserId, WorkspaceId } from './ids.ts';
import type { Money } from './money.ts';

/** How a request reached the app. `command_line` is the older name of `cli` in stored entries; nothing writes it. */
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

/** The server, amount and operation that an audit entry is about; absent where they aren't known. */
export interface AuditSubject {
  readonly serverId?: ServerId;
  readonly label?: string;
  readonly money?: Money;
  readonly operationId?: ConfirmationId;
}

/** One attempt at an action, allowed or not. Holds no secrets and no names of Slack users. */
export interface AuditEntry extends AuditSubject {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly workspaceId: WorkspaceId;
  readonly actorId: UserId;
  readonly channelId?: ChannelId;
  readonly surface: Surface;
  readonly action: AuditAction;
  /** Shared by the entries of one act: `started`, then its outcome. */
  readonly actId: string;
  readonly outcome: 'started' | 'done' | 'failed' | 'denied' | 'in_doubt';
  readonly code?: AuditCode;
}

/** An entry as it is stored. Another version of the app may have written words that this version doesn't know. */
export interface StoredEntry extends Omit<AuditEntry, 'action' | 'code' | 'outcome' | 'surface'> {
  readonly id: AuditEntryId;
  /** The position in the workspace's chain, from 1. */
  readonly seq: number;
  /** Signs the entry for that position. */
  readonly signature: string;
  readonly action: string;
  readonly surface: string;
  readonly outcome: string;
  readonly code?: string;
}

/** The names of all audited actions: the use cases, and what the app does by itself. */
export const AUDIT_ACTIONS = [
  'panel',
  'list',
  'show',
  'catalog',
  'costs',
  'start',
  'stop',
  'reboot',
  'delete',
  'protect',
  'unprotect',
  'note',
  'create',
  'renew',
  'confirm',
  'decide',
  'password',
  'password_saved',
  'approvals',
  'approval_ask',
  'approval_answer',
  'approval_withdraw',
  'denial_reason',
  'access',
  'access_grant',
  'access_revoke',
  'access_ask',
  'access_answer',
  'access_withdraw',
  'access_continue',
  'access_ended',
  'connect',
  'connect_link',
  'disconnect',
  'list_connected',
  'settings',
  'settings_change',
  'status',
  'audit',
  'audit_export',
  'audit_verify',
  'audit_prune',
  'list_audited',
  'install',
  'uninstall',
  'password_erased',
  'restore',
  'reminders',
  'reminder_snooze',
  'reminder_end',
  'reminder_again',
  'renew_all',
  'workflow_keys',
  'workflow_key_issue',
  'workflow_key_revoke',
  'workflow_answer',
  'workflow_cancel',
] as const;
/** The name of an audited action. */
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** The faults that verifying a chain of audit entries can find. */
export type AuditProblem = 'changed' | 'removed' | 'head' | 'key_missing';

/** Every code that the audit stores as the reason of an outcome. */
export type AuditCode =
  | RefusalCode
  | HostingCode
  | keyof OperationRefusalDetails
  | keyof UnconfirmedDetails
  | keyof CancelDetails
  | keyof DeleteEndDetails
  | AuditProblem
  | 'approved'
  | 'denied'
  | 'expired'
  | 'decided'
  | 'found_late'
  | 'not_shown';
