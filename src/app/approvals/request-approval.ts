import { APPROVAL_MS, type Approval, type Deed, labelOfDeed } from '../../domain/approval.ts';
import { Refusal } from '../../domain/errors.ts';
import type { Scene } from '../authorize/use-case.ts';
import type { AuditEntry } from '../ports.ts';
import type { Services } from '../services.ts';

export interface AskedApproval {
  /** False when it, or the like, was asked for before. */
  readonly isNew: boolean;
  readonly approval: Approval;
}

/**
 * Asks for a second person instead of acting, durably. The same again gets the first one and `isNew: false`.
 * Money effect: none; what is approved goes through the same money protocol (DESIGN 4).
 */
export async function askApproval(
  wish: { readonly id: string; readonly deed: Deed; readonly isOverBudget: boolean },
  { actor, services }: Pick<Scene, 'actor' | 'services'>,
): Promise<AskedApproval> {
  const { workspaceId, userId: requesterId, channelId } = actor;
  const askedAt = services.system.now();
  const place = channelId === undefined ? {} : { channelId };
  const request = { ...wish, workspaceId, requesterId, ...place, askedAt, expiresAt: askedAt + APPROVAL_MS };
  const audit = auditOfApproval(request, services, { action: 'approval_ask', outcome: 'done' });
  const asked = await services.store.approvals.ask(request, audit);
  if (asked.approval.workspaceId !== workspaceId) throw new Refusal('other_workspace', {});
  return asked;
}

/** The audit entry of something that became of an approval; by its requester unless somebody else is named. */
export function auditOfApproval(
  approval: Omit<Approval, 'state' | 'isTold' | 'cards'>,
  { system }: Services,
  what: Pick<AuditEntry, 'action' | 'outcome'> &
    Partial<Pick<AuditEntry, 'actId' | 'actorId' | 'surface' | 'code'>>,
): AuditEntry {
  const { deed, workspaceId, channelId, id } = approval;
  const price = deed.kind === 'purchase' ? deed.price : undefined;
  return {
    at: system.now(),
    workspaceId,
    actorId: approval.requesterId,
    ...(channelId === undefined ? {} : { channelId }),
    surface: 'modal',
    actId: system.newId(),
    operationId: id,
    label: labelOfDeed(deed),
    ...idOfServer(deed),
    ...(price === undefined ? {} : { money: price }),
    ...what,
  };
}

function idOfServer(deed: Deed): { serverId?: number } {
  if (deed.kind === 'delete') return { serverId: deed.serverId };
  return deed.purchase.kind === 'renew' ? { serverId: deed.purchase.serverId } : {};
}
