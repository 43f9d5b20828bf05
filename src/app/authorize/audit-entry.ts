import type { AuditCode } from '../../domain/audit-code.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { ChannelId, ConfirmationId, ServerId } from '../../domain/ids.ts';
import type { Money } from '../../domain/money.ts';
import type { System } from '../../system.ts';

/** An audit entry without its time. Without an `actId` it gets one of its own. */
export interface AuditFacts
  extends Pick<AuditEntry, 'workspaceId' | 'actorId' | 'surface' | 'action' | 'outcome'> {
  readonly channelId?: ChannelId | undefined;
  readonly actId?: string | undefined;
  readonly code?: AuditCode | undefined;
  readonly serverId?: ServerId | undefined;
  readonly label?: string | undefined;
  readonly money?: Money | undefined;
  readonly operationId?: ConfirmationId | undefined;
}

/** Makes the audit entry of something that happens now. */
export function makeAuditEntry({ system }: { readonly system: System }, facts: AuditFacts): AuditEntry {
  const { workspaceId, actorId, surface, action, outcome, actId = system.newId(), ...rest } = facts;
  return {
    at: system.now(),
    workspaceId,
    actorId,
    surface,
    action,
    actId,
    outcome,
    ...rest,
  };
}
