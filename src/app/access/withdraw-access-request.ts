import type { AccessRequest } from '../../domain/access-request.ts';
import { Refusal } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import { getDecision, refuseClosed, refuseOthersRequest } from '../decisions/check-decidable.ts';
import { accessKind } from './access-kind.ts';
import { describeForAudit } from './describe-for-audit.ts';
import { notifyAccessRequest } from './notify-access-request.ts';

type Context = UseCaseContext;

/**
 * The requester withdraws one access request, or without an ID all of theirs that are open. If an owner answers at the same
 * moment, one of the two takes effect.
 * @throws Refusal `request_over`, `not_requester`, `no_open_request`
 */
export const withdrawAccessRequest = defineUseCase({
  name: 'access_withdraw',
  needs: 'anyone',
  effect: 'changes',
  run: async ({ id }: { id?: ConfirmationId }, context): Promise<readonly AccessRequest[]> => {
    const { actor, app, setSubject } = context;
    const requests =
      id === undefined ? await listOwn(context) : [await getDecision(accessKind(app), id, actor)];
    const label = requests.map(({ requesterId: subjectId, ...rest }) =>
      describeForAudit({ ...rest, subjectId }),
    );
    setSubject({ label: label.join(', ') });
    return Promise.all(requests.map((request) => withdraw(request, context)));
  },
});

/** @throws Refusal `no_open_request` */
async function listOwn({ actor, app }: Context): Promise<readonly AccessRequest[]> {
  const open = await app.accessRequests.listOpen(actor.workspaceId);
  const own = open.filter(
    ({ requesterId, expiresAt }) => requesterId === actor.userId && expiresAt > app.system.now(),
  );
  if (own.length === 0) throw new Refusal('no_open_request', {});
  return own;
}

async function withdraw(request: AccessRequest, { actor, app }: Context): Promise<AccessRequest> {
  const { id } = request;
  refuseOthersRequest(request, actor);
  const by = { requesterId: actor.userId, at: app.system.now() };
  const withdrawn = await app.accessRequests.withdraw(id, by);
  if (!withdrawn) return refuseClosed(accessKind(app), id);
  return (await notifyAccessRequest(id, app)) ?? withdrawn;
}
