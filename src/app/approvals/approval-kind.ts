import { THE_APP } from '../../domain/actor.ts';
import { type Approval, labelOfAction } from '../../domain/approval.ts';
import { listApprovers } from '../authorize/list-role-holders.ts';
import type { DecisionKind } from '../decisions/decision-kind.ts';
import { auditOfApproval } from './audit-of-approval.ts';
import { followApproved } from './follow-approved.ts';
import type { ApprovalPorts } from './ports.ts';

/** Approvals: decided by another manager, who is asked in the channel of the settings or directly. */
export function approvalKind(ports: ApprovalPorts): DecisionKind<Approval> {
  return {
    name: 'approval',
    ports,
    store: ports.approvals,
    notifier: ports.approvalNotifier,
    findDeciders: async ({ workspaceId, requesterId, action }) => {
      const label = labelOfAction(action);
      const userIds = await listApprovers({ workspaceId, requesterId, label }, ports);
      const workspace = await ports.workspaces.find(workspaceId);
      return { channelId: workspace?.settings.channelId, userIds };
    },
    auditOfExpiry: (approval) =>
      auditOfApproval(approval, ports, {
        action: 'approval_answer',
        outcome: 'failed',
        actorId: THE_APP,
        surface: 'background',
        code: 'expired',
      }),
    notifiesRequesterWhenUnreached: true,
    confirmsToRequester: true,
    knownStates: [],
    afterOutcome: (approval) => followApproved(approval, ports),
  };
}
