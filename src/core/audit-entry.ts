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
  /** The name of the use case, or of what the app does by itself. */
  readonly action: string;
  /** Shared by the entries of one act: `started`, then its outcome. */
  readonly actId: string;
  readonly outcome: 'started' | 'done' | 'failed' | 'denied' | 'in_doubt';
  /** Why: the code of a refusal or of the hosting API, or what an order's own sentence is about. */
  readonly code?: string;
}

/** An entry as it is stored. Another version of the app may have written an action or a code that this version doesn't know. */
export interface StoredEntry extends AuditEntry {
  readonly id: AuditEntryId;
  /** The server's label, or the details in one line. */
  readonly label?: string;
  /** The position in the workspace's chain, from 1. */
  readonly seq: number;
  /** Signs the entry for that position. */
  readonly signature: string;
}

export type AuditProblem = 'changed' | 'removed' | 'head' | 'key_missing';
