import type { AccessRequest } from '../../domain/access-request.ts';
import { type Role, roleCovers } from '../../domain/actor.ts';
import { Refusal } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { EVERY_SERVER } from '../../domain/label-pattern.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import { getDecision, refuseClosed, refuseOwnRequest } from '../decisions/check-decidable.ts';
import { accessKind } from './access-kind.ts';
import { checkGrantee } from './check-grantee.ts';
import { describeForAudit } from './describe-for-audit.ts';
import type { NewGrant } from './grants-port.ts';
import { notifyAccessRequest } from './notify-access-request.ts';

/** An owner's answer. An approval grants what was requested, or less: a lower role, fewer servers. */
export type AccessAnswer =
  | {
      readonly kind: 'approve';
      readonly role?: Role;
      readonly pattern?: string;
      /** How long the role lasts; absent: permanently. */
      readonly forMs?: number | undefined;
    }
  | { readonly kind: 'deny'; readonly reason?: string | undefined };

type Approval = Extract<AccessAnswer, { kind: 'approve' }>;

/** Finds an open request, for the form in which it is answered. @throws Refusal `request_over`, `own_request` */
export const readAccessRequest = defineUseCase({
  name: 'access_answer',
  needs: 'owner',
  effect: 'reads',
  run: async ({ id }: { id: ConfirmationId }, { actor, app }): Promise<AccessRequest> => {
    const kind = accessKind(app);
    const request = await getDecision(kind, id, actor);
    refuseOwnRequest(request, actor);
    return request.state === 'open' ? request : refuseClosed(kind, id);
  },
});

/**
 * An owner answers another user's access request.
 * @throws Refusal `request_over`, `own_request`, `beyond_request`, `owner_limited`, `no_grantee`
 */
export const answerAccessRequest = defineUseCase({
  name: 'access_answer',
  needs: 'owner',
  effect: 'changes',
  run: async (input: { id: ConfirmationId; answer: AccessAnswer }, context): Promise<AccessRequest> => {
    const { actor, app, setSubject } = context;
    const { answer } = input;
    const kind = accessKind(app);
    const request = await getDecision(kind, input.id, actor);
    setSubject({ label: auditLabel(request, answer) });
    refuseOwnRequest(request, actor);
    const at = app.system.now();
    const decision =
      answer.kind === 'deny'
        ? { denialReason: answer.reason }
        : { grant: await makeGrant(request, answer, at, context) };
    const decided = await app.accessRequests.decide(request.id, { by: actor.userId, at, ...decision });
    if (!decided) return refuseClosed(kind, request.id);
    return (await notifyAccessRequest(request.id, app)) ?? decided;
  },
  follow: async ({ workspaceId, requesterId, state }, { app }) => {
    if (state === 'approved') app.homeRedraw.redraw(workspaceId, [requesterId]);
  },
});

/** "approve viewer web-1 U012AB3CD for 60 min", "deny owner U012AB3CD: not on call this week". */
function auditLabel({ role, pattern, requesterId: subjectId }: AccessRequest, answer: AccessAnswer): string {
  const given = answer.kind === 'approve' ? answer : {};
  const what = describeForAudit({ role, pattern, subjectId, ...given });
  const reason = answer.kind === 'deny' && answer.reason !== undefined ? `: ${answer.reason}` : '';
  return `${answer.kind} ${what}${reason}`;
}

/** @throws Refusal `beyond_request`, `owner_limited`, `no_grantee` */
async function makeGrant(
  request: AccessRequest,
  { role = request.role, pattern = request.pattern, forMs }: Approval,
  grantedAt: number,
  { actor, app }: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<NewGrant> {
  const { workspaceId, requesterId } = request;
  // A request is for every server or for one: the only narrower patterns are those of a request for every server.
  const isWithin = pattern === request.pattern || request.pattern === EVERY_SERVER;
  if (!roleCovers(request.role, role) || !isWithin)
    throw new Refusal('beyond_request', { role: request.role });
  if (role === 'owner' && pattern !== EVERY_SERVER) throw new Refusal('owner_limited', {});
  const grantee = { subjectKind: 'user', subjectId: requesterId } as const;
  await checkGrantee(grantee, { actor, app });
  const until = forMs === undefined ? undefined : grantedAt + forMs;
  const grant = { ...grantee, workspaceId, role, pattern, grantedBy: actor.userId, grantedAt };
  return { ...grant, until };
}
