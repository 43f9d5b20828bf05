import type { AccessRequest } from '../../domain/access-request.ts';
import { THE_APP } from '../../domain/actor.ts';
import type { UserId } from '../../domain/ids.ts';
import { makeAuditEntry } from '../authorize/audit-entry.ts';
import { listOwners } from '../authorize/list-role-holders.ts';
import type { DecisionKind } from '../decisions/decision-kind.ts';
import type { AppContext } from '../ports.ts';

/** Access requests: decided by an owner. They go to owners directly, since a reason may be private. */
export function accessKind(app: AppContext): DecisionKind<AccessRequest> {
  return {
    name: 'access request',
    app,
    store: app.accessRequests,
    notifier: app.accessNotifier,
    findDeciders: async (request) => ({ userIds: await listDeciders(request, app) }),
    auditOfExpiry: ({ workspaceId, role, pattern, requesterId }) =>
      makeAuditEntry(app, {
        workspaceId,
        actorId: THE_APP,
        surface: 'background',
        action: 'access_answer',
        label: [role, pattern, requesterId].filter(Boolean).join(' '),
        outcome: 'failed',
        code: 'expired',
      }),
    notifiesRequesterWhenUnreached: false,
    // The form that sends the request says so itself.
    confirmsToRequester: false,
    knownStates: ['replaced', 'withdrawn'],
  };
}

/** The owners who can answer a request, as far as they are known by id; the requester can't. */
export async function listDeciders(
  { workspaceId, requesterId }: AccessRequest,
  app: AppContext,
): Promise<readonly UserId[]> {
  return (await listOwners(workspaceId, app)).filter((owner) => owner !== requesterId);
}
