import type { AuditEntryId, ChannelId, ConfirmationId, ServerId, UserId, WorkspaceId } from './ids.ts';
import type { Money } from './money.ts';
import type { Role } from './roles.ts';
import type { PowerAction } from './server.ts';
import type { SettingChange } from './settings.ts';
import { MINUTE_MS } from './time.ts';

/** How a request reached the app. */
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
  | 'cli';

/** The server, amount and operation that an audit entry is about; absent where they aren't known. */
export interface AuditSubject {
  readonly serverId?: ServerId;
  readonly label?: string;
  readonly details?: AuditDetails;
  readonly money?: Money;
  readonly operationId?: ConfirmationId;
}

/** A role as the audit has it; without a duration it is permanent, or that is not known. */
export interface AuditedRole {
  readonly role: Role;
  /** '' for all servers. */
  readonly pattern: string;
  /** The user, user group or channel; absent if it is the actor. */
  readonly subjectId?: string;
  readonly forMs?: number | undefined;
}

/** What an audit entry is about instead of a server. Stored as JSON. */
export type AuditDetails =
  | {
      readonly kind: 'roles';
      readonly roles: readonly AuditedRole[];
      readonly answer?: 'approve' | 'deny';
    }
  | { readonly kind: 'every_role'; readonly subjectId: string }
  | { readonly kind: 'settings'; readonly changes: readonly SettingChange[] }
  | {
      readonly kind: 'workflow_key';
      readonly name: string;
      readonly actions: readonly PowerAction[];
      readonly pattern: string;
    }
  /** Why a request for approval was denied. */
  | { readonly kind: 'reason'; readonly reason: string }
  /** A grant or a workflow key that is to be revoked: what it is is known once it was found. */
  | { readonly kind: 'id'; readonly id: string };

export function auditRoles(roles: readonly AuditedRole[]): Extract<AuditDetails, { kind: 'roles' }> {
  const picked = roles.map(({ role, pattern, subjectId, forMs }) => ({ role, pattern, subjectId, forMs }));
  return { kind: 'roles', roles: picked };
}

/** Describes details in one line for the export and for what was recorded: "operator web-* U012AB3CD for 480 min". */
export function describeDetails(details: AuditDetails): string {
  switch (details.kind) {
    case 'roles':
      return [details.answer, details.roles.map(describeRole).join(', ')].filter(Boolean).join(' ');
    case 'every_role':
      return details.subjectId;
    case 'settings':
      return details.changes
        .map(({ name, before = 'none', after = 'none' }) => `${name} ${before} → ${after}`)
        .join(', ');
    case 'workflow_key':
      return `${details.name} (${details.actions.join(', ')}; ${details.pattern || '*'})`;
    case 'reason':
      return details.reason;
    case 'id':
      return details.id;
  }
}

function describeRole({ role, pattern, subjectId, forMs }: AuditedRole): string {
  const time = forMs ? `for ${Math.round(forMs / MINUTE_MS)} min` : '';
  return [role, pattern, subjectId, time].filter(Boolean).join(' ');
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
  /** Why: the code of a refusal or of the hosting API, or what an order's own sentence is about. */
  readonly code?: string;
}

/** An entry as it is stored. Another version of the app may have written words that this version doesn't know. */
export interface StoredEntry extends Omit<AuditEntry, 'action'> {
  readonly id: AuditEntryId;
  /** The server's label, or the details in one line. */
  readonly label?: string;
  /** The position in the workspace's chain, from 1. */
  readonly seq: number;
  /** Signs the entry for that position. */
  readonly signature: string;
  readonly action: string;
}

/** The words of an audited action: "rebooted" or "reboot", and then what it is about, with % for the server or role. */
interface ActionWords {
  /** Follows a name. */
  readonly did: string;
  /** Follows "couldn't" and "tried to". */
  readonly base: string;
  readonly what: string;
}

/** All audited actions, by their names: the use cases, and what the app does by itself. */
export const AUDIT_ACTIONS = {
  panel: { did: 'viewed', base: 'view', what: 'the control panel' },
  list: { did: 'listed', base: 'list', what: 'servers' },
  show: { did: 'viewed', base: 'view', what: '%' },
  catalog: { did: 'viewed', base: 'view', what: 'the catalog' },
  costs: { did: 'viewed', base: 'view', what: 'the costs' },
  start: { did: 'started', base: 'start', what: '%' },
  stop: { did: 'stopped', base: 'stop', what: '%' },
  reboot: { did: 'rebooted', base: 'reboot', what: '%' },
  delete: { did: 'deleted', base: 'delete', what: '%' },
  protect: { did: 'protected', base: 'protect', what: '%' },
  unprotect: { did: 'lifted', base: 'lift', what: 'the protection on %' },
  note: { did: 'changed', base: 'change', what: 'the note on %' },
  create: { did: 'created', base: 'create', what: '%' },
  renew: { did: 'renewed', base: 'renew', what: '%' },
  confirm: { did: 'placed the order for', base: 'order', what: '%' },
  decide: { did: 'resolved', base: 'resolve', what: 'the unconfirmed order for %' },
  password: { did: 'viewed', base: 'view', what: 'the root password of %' },
  password_saved: {
    did: 'marked',
    base: 'mark',
    what: 'the root password of % as saved',
  },
  approval_ask: { did: 'requested', base: 'request', what: 'approval for %' },
  approval_answer: { did: 'answered', base: 'answer', what: '%' },
  approval_withdraw: { did: 'withdrew', base: 'withdraw', what: 'the request for %' },
  denial_reason: { did: 'gave', base: 'give', what: 'a reason for a denial' },
  access: { did: 'viewed', base: 'view', what: 'the roles' },
  access_grant: { did: 'granted', base: 'grant', what: '%' },
  access_revoke: { did: 'revoked', base: 'revoke', what: '%' },
  access_ask: { did: 'requested', base: 'request', what: '%' },
  access_answer: { did: 'answered', base: 'answer', what: '%' },
  access_withdraw: { did: 'withdrew', base: 'withdraw', what: 'a role request' },
  access_continue: {
    did: 'ran',
    base: 'run',
    what: 'the command that they had requested a role for',
  },
  access_ended: { did: 'ended', base: 'end', what: '%' },
  connect: { did: 'connected', base: 'connect', what: 'the hosting account' },
  connect_link: { did: 'requested', base: 'request', what: 'a connect link' },
  disconnect: { did: 'disconnected', base: 'disconnect', what: 'the hosting account' },
  key_rotate: {
    did: 'changed',
    base: 'change',
    what: 'the encryption key',
  },
  settings: { did: 'viewed', base: 'view', what: 'the settings' },
  settings_change: { did: 'changed', base: 'change', what: '%' },
  status: { did: 'viewed', base: 'view', what: 'the status' },
  audit: { did: 'viewed', base: 'view', what: 'the audit log' },
  audit_prune: { did: 'removed', base: 'remove', what: 'old audit entries' },
  install: { did: 'installed', base: 'install', what: 'the app' },
  uninstall: {
    did: 'erased',
    base: 'erase',
    what: 'the workspace’s data, after the app was uninstalled',
  },
  password_erased: {
    did: 'erased',
    base: 'erase',
    what: 'the root password of %, because the app was uninstalled',
  },
  restore: {
    did: 'marked',
    base: 'mark',
    what: 'the database as restored from a backup',
  },
  reminders: { did: 'viewed', base: 'view', what: 'upcoming renewals' },
  reminder_snooze: { did: 'snoozed', base: 'snooze', what: 'reminders for %' },
  reminder_end: { did: 'left', base: 'leave', what: '% to expire' },
  reminder_again: { did: 'turned', base: 'turn', what: 'on reminders for %' },
  workflow_keys: { did: 'viewed', base: 'view', what: 'the workflow keys' },
  workflow_key_issue: { did: 'issued', base: 'issue', what: 'the workflow key %' },
  workflow_key_revoke: { did: 'revoked', base: 'revoke', what: 'the workflow key %' },
  workflow_answer: { did: 'answered', base: 'answer', what: 'a workflow’s step for %' },
  workflow_cancel: { did: 'canceled', base: 'cancel', what: 'a workflow’s step for %' },
  renew_all: { did: 'renewed', base: 'renew', what: 'several servers' },
} as const satisfies Readonly<Record<string, ActionWords>>;
export type AuditAction = keyof typeof AUDIT_ACTIONS;

/** Whether this version of the app knows an action; another one may have written it. */
export function isAuditAction(name: string): name is AuditAction {
  return Object.hasOwn(AUDIT_ACTIONS, name);
}

export type AuditProblem = 'changed' | 'removed' | 'head' | 'key_missing';
