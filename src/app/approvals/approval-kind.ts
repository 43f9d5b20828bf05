import { THE_APP } from '../../domain/actor.ts';
import { type Approval, labelOfAction } from '../../domain/approval.ts';
import { listApprovers } from '../authorize/list-role-holders.ts';
import type { DecisionKind } from '../decisions/decision-kind.ts';
import type { AppContext } from '../ports.ts';
import { auditOfApproval } from './audit-of-approval.ts';
import { followApproved } from './follow-approved.ts';

/** Approvals: decided by another manager, who is asked in the channel of the settings or directly. */
export function approvalKind(app: AppContext): DecisionKind<Approval> {
  return {
    name: 'approval',
    app,
    store: app.approvals,
    notifier: app.approvalNotifier,
    findDeciders: async ({ workspaceId, requesterId, action }) => {
      const label = labelOfAction(action);
      const userIds = await listApprovers({ workspaceId, requesterId, label }, app);
      const workspace = await app.workspaces.find(workspaceId);
      return { channelId: workspace?.settings.channelId, userIds };
    },
    auditOfExpiry: (approval) =>
      auditOfApproval(approval, app, {
        action: 'approval_answer',
        outcome: 'failed',
        actorId: THE_APP,
        surface: 'background',
        code: 'expired',
      }),
    notifiesRequesterWhenUnreached: true,
    confirmsToRequester: true,
    knownStates: [],
    afterOutcome: (approval) => followApproved(approval, app),
  };
}
