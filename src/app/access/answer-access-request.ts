import type { AccessRequest } from '../../domain/access-request.ts';
import { Refusal } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { EVERY_SERVER } from '../../domain/label-pattern.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { HOUR_MS } from '../../domain/time.ts';
import { type UseCaseContext, useCasesOver } from '../authorize/use-case.ts';
import { getDecision, refuseClosed, refuseOwnRequest } from '../decisions/check-decidable.ts';
import { accessKind } from './access-kind.ts';
import { checkGrantee } from './check-grantee.ts';
import type { NewGrant } from './grants-port.ts';
import { notifyAccessRequest } from './notify-access-request.ts';
import type { AccessPorts } from './ports.ts';

const defineUseCase = useCasesOver<AccessPorts>();

/** How long an approved role lasts, in milliseconds. */
export const GRANT_TIMES = { hour: HOUR_MS, workday: 8 * HOUR_MS, permanent: undefined } as const;

type GrantTime = keyof typeof GRANT_TIMES;
export type AccessAnswer = GrantTime | 'deny';
export const ACCESS_ANSWERS = [
  'hour',
  'workday',
  'permanent',
  'deny',
] as const satisfies readonly AccessAnswer[];

/**
 * An owner answers another user's access request.
 * @throws Refusal `request_over`, `own_request`, `owner_limited`, `no_grantee`
 */
export const answerAccessRequest = defineUseCase({
  name: 'access_answer',
  needs: 'owner',
  effect: 'changes',
  run: async (
    input: { requestId: ConfirmationId; answer: AccessAnswer },
    context,
  ): Promise<AccessRequest> => {
    const { actor, ports, setSubject } = context;
    const { answer } = input;
    const kind = accessKind(ports);
    const request = await getDecision(kind, input.requestId, actor);
    const { id, role, pattern, requesterId } = request;
    setSubject({ label: [answer, role, pattern, requesterId].filter(Boolean).join(' ') });
    refuseOwnRequest(request, actor);
    const at = ports.system.now();
    const grant = answer === 'deny' ? undefined : await makeGrant(request, answer, at, context);
    const decision = { by: actor.userId, at, ...omitUndefined({ grant }) };
    const decided = await ports.accessRequests.decide(id, decision);
    if (!decided) return refuseClosed(kind, id);
    return (await notifyAccessRequest(id, ports)) ?? decided;
  },
});

/** @throws Refusal `owner_limited`, `no_grantee` */
async function makeGrant(
  { workspaceId, role, pattern, requesterId }: AccessRequest,
  time: GrantTime,
  grantedAt: number,
  { actor, ports }: Pick<UseCaseContext<AccessPorts>, 'actor' | 'ports'>,
): Promise<NewGrant> {
  if (role === 'owner' && pattern !== EVERY_SERVER) throw new Refusal('owner_limited', {});
  const grantee = { subjectKind: 'user', subjectId: requesterId } as const;
  await checkGrantee(grantee, { actor, ports });
  const forMs = GRANT_TIMES[time];
  const until = forMs === undefined ? undefined : grantedAt + forMs;
  const grant = { ...grantee, workspaceId, role, pattern, grantedBy: actor.userId, grantedAt };
  return { ...grant, ...omitUndefined({ until }) };
}
