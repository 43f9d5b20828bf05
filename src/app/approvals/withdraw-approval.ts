import { type Approval, labelOfAction } from '../../domain/approval.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { defineUseCase } from '../authorize/use-case.ts';
import { getDecision, refuseClosed, refuseOthersRequest } from '../decisions/check-decidable.ts';
import { approvalKind } from './approval-kind.ts';
import { auditOfApproval } from './audit-of-approval.ts';
import { notifyApproval } from './notify-approval.ts';

/**
 * The requester withdraws what waits for another manager's approval. If it is approved at the same moment, one of the two
 * takes effect.
 * Money effect: none; what is withdrawn is never paid.
 * @throws Refusal `request_over`, `not_requester`
 */
export const withdrawApproval = defineUseCase({
  name: 'approval_withdraw',
  needs: 'anyone',
  effect: 'confirms',
  run: async (input: { id: ConfirmationId }, { actor, app, setSubject }): Promise<Approval> => {
    const kind = approvalKind(app);
    const approval = await getDecision(kind, input.id, actor);
    const { id, action, state, expiresAt } = approval;
    setSubject({ operationId: id, label: labelOfAction(action) });
    refuseOthersRequest(approval, actor);
    const at = app.system.now();
    const withdrawn = { state: 'withdrawn', at, by: actor.userId } as const;
    const audit = auditOfApproval(approval, app, {
      action: 'approval_withdraw',
      outcome: 'done',
      surface: 'button',
    });
    const isOpen = state === 'open' && expiresAt > at;
    const isMine = isOpen && (await app.approvals.move(id, ['open'], withdrawn, audit));
    return isMine ? getDecision(kind, id, actor) : refuseClosed(kind, id);
  },
  follow: (approval, { app }) => notifyApproval(approval.id, app),
});
