import { type ApprovalAction, labelOfAction, type NewApproval } from '../../domain/approval.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { ServerId } from '../../domain/ids.ts';
import { type AuditFacts, makeAuditEntry } from '../authorize/audit-entry.ts';
import type { AppContext } from '../ports.ts';

/** The audit entry for a change of an approval; by its requester unless `facts` names another actor. */
export function auditOfApproval(
  { id, workspaceId, requesterId, channelId, action }: NewApproval,
  app: AppContext,
  facts: Pick<AuditFacts, 'action' | 'outcome'> & Partial<AuditFacts>,
): AuditEntry {
  return makeAuditEntry(app, {
    workspaceId,
    actorId: requesterId,
    channelId,
    surface: 'modal',
    operationId: id,
    label: labelOfAction(action),
    serverId: idOfServer(action),
    money: action.kind === 'purchase' ? action.price : undefined,
    ...facts,
  });
}

function idOfServer(action: ApprovalAction): ServerId | undefined {
  if (action.kind === 'delete') return action.serverId;
  return action.purchase.kind === 'renew' ? action.purchase.serverId : undefined;
}
