import type { AuditEntry } from '../../domain/audit-entry.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import type { AppContext } from '../ports.ts';

/** The audit entry of an operation's change of state, by the user who confirmed it. */
export function auditOfOperation(
  operation: Operation,
  { system }: AppContext,
  outcome: AuditEntry['outcome'],
  more: Partial<Pick<AuditEntry, 'actorId' | 'code' | 'serverId' | 'surface'>> = {},
): AuditEntry {
  const { id, workspaceId, actorId, channelId, purchase, price } = operation;
  const serverId = purchase.kind === 'renew' ? purchase.serverId : undefined;
  return {
    at: system.now(),
    workspaceId,
    actorId,
    surface: 'modal',
    action: purchase.kind,
    actId: id,
    operationId: id,
    label: labelOf(purchase),
    outcome,
    channelId,
    serverId,
    money: price,
    ...more,
  };
}
