import { APPROVAL_MS, type Approval, type ApprovalAction, labelOfAction } from '../../domain/approval.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import { Refusal } from '../../domain/errors.ts';
import type { UseCaseContext } from '../authorize/use-case.ts';
import type { AppPorts } from '../ports.ts';

export interface RequestedApproval {
  /** False when it, or the like, was asked for before. */
  readonly isNew: boolean;
  readonly approval: Approval;
}

/**
 * Asks for a second person instead of acting, durably. The same again gets the first one and `isNew: false`.
 * Money effect: none; what is approved goes through the same money protocol (docs/design.md 4).
 */
export async function requestApproval(
  wish: { readonly id: string; readonly action: ApprovalAction; readonly isOverBudget: boolean },
  { actor, ports }: Pick<UseCaseContext<AppPorts>, 'actor' | 'ports'>,
): Promise<RequestedApproval> {
  const { workspaceId, userId: requesterId, channelId } = actor;
  const requestedAt = ports.system.now();
  const place = channelId === undefined ? {} : { channelId };
  const request = {
    ...wish,
    workspaceId,
    requesterId,
    ...place,
    requestedAt,
    expiresAt: requestedAt + APPROVAL_MS,
  };
  const audit = auditOfApproval(request, ports, { action: 'approval_ask', outcome: 'done' });
  const asked = await ports.approvals.request(request, audit);
  if (asked.approval.workspaceId !== workspaceId) throw new Refusal('other_workspace', {});
  return asked;
}

/** The audit entry of something that became of an approval; by its requester unless somebody else is named. */
export function auditOfApproval(
  approval: Omit<Approval, 'state' | 'isNotified' | 'cards'>,
  { system }: AppPorts,
  what: Pick<AuditEntry, 'action' | 'outcome'> &
    Partial<Pick<AuditEntry, 'actId' | 'actorId' | 'surface' | 'code'>>,
): AuditEntry {
  const { action, workspaceId, channelId, id } = approval;
  const price = action.kind === 'purchase' ? action.price : undefined;
  return {
    at: system.now(),
    workspaceId,
    actorId: approval.requesterId,
    ...(channelId === undefined ? {} : { channelId }),
    surface: 'modal',
    actId: system.newId(),
    operationId: id,
    label: labelOfAction(action),
    ...idOfServer(action),
    ...(price === undefined ? {} : { money: price }),
    ...what,
  };
}

function idOfServer(action: ApprovalAction): { serverId?: number } {
  if (action.kind === 'delete') return { serverId: action.serverId };
  return action.purchase.kind === 'renew' ? { serverId: action.purchase.serverId } : {};
}
