import type { ConfirmationId } from '../../domain/ids.ts';
import { getWorkspace } from '../account/change-settings.ts';
import { notifyApproval } from '../approvals/notify-approval.ts';
import { type RequestedApproval, requestApproval } from '../approvals/request-approval.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import { type DeleteInput, getServerToDelete } from './delete-server.ts';
/**
 * Requests a second person's approval where the workspace requires it for deletes; undefined where it does not.
 * @throws Refusal `label_differs`, `unknown_server`, `role_needed`
 */
export const requestDelete = defineUseCase({
  name: 'delete',
  needs: 'manager',
  effect: 'confirms',
  run: async (
    input: DeleteInput & { approvalId: ConfirmationId },
    context: UseCaseContext,
  ): Promise<RequestedApproval | undefined> => {
    if (!(await getWorkspace(context)).settings.approval.delete) return undefined;
    const { id: serverId, label, paidUntil } = await getServerToDelete(input, context);
    const action = { kind: 'delete', serverId, label, paidUntil } as const;
    return requestApproval({ id: input.approvalId, action, isOverBudget: false }, context);
  },
  follow: async (requested, { app }) => {
    if (requested?.isNew) await notifyApproval(requested.approval.id, app);
  },
});
