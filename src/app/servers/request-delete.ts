import type { ConfirmationId } from '../../domain/ids.ts';
import { getWorkspace } from '../account/change-settings.ts';
import { notifyApproval } from '../approvals/notify-approval.ts';
import { type RequestedApproval, requestApproval } from '../approvals/request-approval.ts';
import { type UseCaseContext, useCasesOver } from '../authorize/use-case.ts';
import { type DeleteInput, getServerToDelete } from './delete-server.ts';
import type { ServerPorts } from './ports.ts';

/** What requesting approval needs in addition. */
type RequestPorts = ServerPorts &
  Parameters<typeof requestApproval>[1]['ports'] &
  Parameters<typeof notifyApproval>[1];

/**
 * Requests a second person's approval where the workspace requires it for deletes; undefined where it does not.
 * @throws Refusal `label_differs`, `unknown_server`, `role_needed`
 */
export const requestDelete = useCasesOver<RequestPorts>()({
  name: 'delete',
  needs: 'manager',
  effect: 'confirms',
  run: async (
    input: DeleteInput & { approvalId: ConfirmationId },
    context: UseCaseContext<RequestPorts>,
  ): Promise<RequestedApproval | undefined> => {
    if (!(await getWorkspace(context)).settings.approval.delete) return undefined;
    const { id: serverId, label, paidUntil } = await getServerToDelete(input, context);
    const action = { kind: 'delete', serverId, label, paidUntil } as const;
    return requestApproval({ id: input.approvalId, action, isOverBudget: false }, context);
  },
  follow: async (requested, { ports }) => {
    if (requested?.isNew) await notifyApproval(requested.approval.id, ports);
  },
});
