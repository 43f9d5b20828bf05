import { coversRole, type HeldRoles } from '../../domain/access.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import { type Role, roleCovers } from '../../domain/actor.ts';
import { Refusal } from '../../domain/errors.ts';
import { EVERY_SERVER, exactPattern } from '../../domain/label-pattern.ts';
import { HOUR_MS, WEEK_MS } from '../../domain/time.ts';
import { findRoles } from '../authorize/find-roles.ts';
import { useCasesOver } from '../authorize/use-case.ts';
import type { AppPorts } from '../ports.ts';
import { checkGrantee } from './check-grantee.ts';
import { listAnswerers } from './list-answerers.ts';
import { notifyAccessRequest } from './notify-access-request.ts';
import type { RequestOutcome } from './ports.ts';

const defineUseCase = useCasesOver<AppPorts>();

/** A second request for the same within this time reaches nobody, and no more than a few for anything. */
const NAG_MS = HOUR_MS;
const MOST_ASKED = 3;
/** Whoever decides after so long does not know any more what it was for. */
const WAITING_MS = WEEK_MS;

/** A role, on the server of this label or on all. */
export interface WantedRole {
  readonly role: Role;
  readonly label?: string;
}

export interface RequestedAccess {
  readonly request: AccessRequest;
  /** Whom to tell; empty when no owner is known by id. */
  readonly owners: readonly string[];
}

/**
 * Looks whether such a role can be given at all.
 * @throws Refusal `owner_limited`, `label_needed`
 */
export function checkWantedRole({ role, label }: WantedRole): void {
  if (role === 'owner' && label !== undefined) throw new Refusal('owner_limited', {});
  // Without a label the pattern would be one for every server.
  if (label === '') throw new Refusal('label_needed', { role });
}

/**
 * Asks the owners for a role, on one server or on all. The same again is handed back while it has reached nobody.
 * @throws Refusal `owner_limited`, `label_needed`, `role_held`, `asked_before`, `asked_enough`, `no_grantee`
 */
export const requestAccess = defineUseCase({
  name: 'access_ask',
  needs: 'anyone',
  effect: 'changes',
  subject: ({ role, label }) => ({ label: [role, label].filter(Boolean).join(' ') }),
  run: async (
    input: WantedRole & { id: string; reason: string },
    { actor, ports },
  ): Promise<RequestedAccess> => {
    const { id, role, label, reason } = input;
    const { workspaceId, userId, channelId } = actor;
    checkWantedRole(input);
    if (isHeld(await findRoles(actor, ports), role, label)) throw new Refusal('role_held', { role });
    await checkGrantee({ subjectKind: 'user', subjectId: userId }, { actor, ports });
    const requestedAt = ports.system.now();
    const place = channelId === undefined ? {} : { channelId };
    const pattern = label === undefined ? EVERY_SERVER : exactPattern(label);
    const times = { requestedAt, expiresAt: requestedAt + WAITING_MS };
    const asked = await ports.accessRequests.request(
      { id, workspaceId, requesterId: userId, ...place, role, pattern, reason, ...times },
      { since: requestedAt - NAG_MS, most: MOST_ASKED },
    );
    const request = takeAsked(asked);
    const replaced = asked.kind === 'new' ? asked.replaced : [];
    const [notified = request] = await Promise.all(
      [request, ...replaced].map((each) => notifyAccessRequest(each.id, ports)),
    );
    return { request: notified, owners: await listAnswerers(request, ports) };
  },
});

/** One that has reached nobody is no nagging. */
function takeAsked(asked: RequestOutcome): AccessRequest {
  if (asked.kind === 'too_many') {
    const againAt = (asked.recent.at(-MOST_ASKED)?.requestedAt ?? 0) + NAG_MS;
    const wishes = asked.recent.map(({ role, pattern, requestedAt: at }) => ({ role, pattern, at }));
    throw new Refusal('asked_enough', { wishes, againAt });
  }
  const { request } = asked;
  const isUnheard = request.state === 'open' && request.cards.length === 0;
  if (asked.kind === 'new' || isUnheard) return request;
  const { requestedAt: at, state } = request;
  throw new Refusal('asked_before', { at, state, againAt: at + NAG_MS });
}

function isHeld(roles: HeldRoles, wanted: Role, label: string | undefined): boolean {
  if (label !== undefined) return coversRole(roles, wanted, label);
  return roles.some(({ role, pattern }) => roleCovers(role, wanted) && pattern === EVERY_SERVER);
}

/** How long an approved role lasts. */
export const GRANT_TIMES = { hour: HOUR_MS, workday: 8 * HOUR_MS, good: undefined } as const;

export type AccessAnswer = keyof typeof GRANT_TIMES | 'deny';
export const ACCESS_ANSWERS = ['hour', 'workday', 'good', 'deny'] as const satisfies readonly AccessAnswer[];

/**
 * An owner answers a request; nobody their own.
 * @throws Refusal `request_over`, `own_request`, `owner_limited`, `no_grantee`
 */
export const answerAccessRequest = defineUseCase({
  name: 'access_answer',
  needs: 'owner',
  effect: 'changes',
  run: async (
    input: { requestId: string; answer: AccessAnswer },
    { actor, ports, setSubject },
  ): Promise<AccessRequest> => {
    const { accessRequests } = ports;
    const request = await accessRequests.find(input.requestId);
    if (request?.workspaceId !== actor.workspaceId) throw new Refusal('request_over', { state: 'unknown' });
    const { role, pattern, requesterId, workspaceId } = request;
    setSubject({ label: [input.answer, role, pattern, requesterId].filter(Boolean).join(' ') });
    if (requesterId === actor.userId) throw new Refusal('own_request', {});
    const at = ports.system.now();
    const decision = { by: actor.userId, at };
    const notify = async (decided: AccessRequest) =>
      (await notifyAccessRequest(decided.id, ports)) ?? decided;
    if (input.answer === 'deny')
      return notify((await accessRequests.decide(request.id, decision)) ?? (await refuse(request.id, ports)));
    if (role === 'owner' && pattern !== EVERY_SERVER) throw new Refusal('owner_limited', {});
    const grantee = { subjectKind: 'user', subjectId: requesterId } as const;
    await checkGrantee(grantee, { actor, ports });
    const forMs = GRANT_TIMES[input.answer];
    const ending = forMs === undefined ? {} : { until: at + forMs };
    const given = { workspaceId, role, pattern, grantedBy: actor.userId, grantedAt: at, ...ending };
    const grant = { ...grantee, ...given };
    const decided = await accessRequests.decide(request.id, { ...decision, grant });
    return notify(decided ?? (await refuse(request.id, ports)));
  },
});

/** Somebody was faster. A card that still had its buttons shows that now. */
async function refuse(id: string, ports: AppPorts): Promise<never> {
  const request = await ports.accessRequests.find(id);
  if (request && request.state !== 'open') await ports.accessNotifier.updateCards(request);
  // Still open, and not to be answered any more: it has expired, and the sweep has not come to it.
  const state = request?.state === 'open' ? 'expired' : (request?.state ?? 'unknown');
  const by = request?.decidedBy === undefined ? {} : { by: request.decidedBy };
  throw new Refusal('request_over', { state, ...by });
}
