import { type Reach, reaches } from '../domain/access.ts';
import { type Role, roleCovers } from '../domain/actor.ts';
import { Refusal } from '../domain/errors.ts';
import { EVERY_SERVER, exactPattern } from '../domain/label-pattern.ts';
import type { AccessRequest } from './access-ports.ts';
import { checkGrantee } from './check-grantee.ts';
import { findReach, listOwners } from './reach.ts';
import { defineUseCase } from './use-case.ts';

/** A second request within this time reaches nobody. */
const NAG_MS = 60 * 60_000;

export interface AskedAccess {
  readonly request: AccessRequest;
  /** Earlier ones that it stands for now: their cards are closed. */
  readonly replaced: readonly AccessRequest[];
  /** Whom to tell; empty when no owner is known by id. */
  readonly owners: readonly string[];
}

/**
 * Asks the owners for a role, on one server or on all.
 * @throws Refusal `role_held`, `asked_before`, `no_grantee`
 */
export const askAccess = defineUseCase({
  name: 'access_ask',
  needs: 'anyone',
  effect: 'changes',
  subject: ({ role, label }) => ({ label: [role, label].filter(Boolean).join(' ') }),
  run: async (
    input: { id: string; role: Role; label?: string; reason: string },
    { actor, services },
  ): Promise<AskedAccess> => {
    const { id, role, label, reason } = input;
    const { workspaceId, userId, channelId } = actor;
    if (isHeld(await findReach(actor, services), role, label)) throw new Refusal('role_held', { role });
    await checkGrantee({ subjectKind: 'user', subjectId: userId }, { actor, services });
    const askedAt = services.system.now();
    const place = channelId === undefined ? {} : { channelId };
    const pattern = label === undefined ? EVERY_SERVER : exactPattern(label);
    const { isNew, request, replaced } = await services.store.accessRequests.ask(
      { id, workspaceId, askerId: userId, ...place, role, pattern, reason, askedAt },
      askedAt - NAG_MS,
    );
    if (!isNew) {
      throw new Refusal('asked_before', { at: request.askedAt, isDenied: request.state === 'denied' });
    }
    const owners = (await listOwners(workspaceId, services)).filter((owner) => owner !== userId);
    return { request, replaced, owners };
  },
});

function isHeld(reach: Reach, wanted: Role, label: string | undefined): boolean {
  if (label !== undefined) return reaches(reach, wanted, label);
  return reach.some(({ role, pattern }) => roleCovers(role, wanted) && pattern === EVERY_SERVER);
}

/** How long an approved role lasts. */
export const GRANT_TIMES = { hour: 60 * 60_000, workday: 8 * 60 * 60_000, good: undefined } as const;

export type RequestAnswer = keyof typeof GRANT_TIMES | 'deny';
export const REQUEST_ANSWERS = [
  'hour',
  'workday',
  'good',
  'deny',
] as const satisfies readonly RequestAnswer[];

/**
 * An owner answers a request; nobody their own.
 * @throws Refusal `request_over`, `own_request`, `no_grantee`
 */
export const answerRequest = defineUseCase({
  name: 'access_answer',
  needs: 'owner',
  effect: 'changes',
  run: async (
    input: { requestId: string; answer: RequestAnswer },
    { actor, services, about },
  ): Promise<AccessRequest> => {
    const { accessRequests } = services.store;
    const request = await accessRequests.find(input.requestId);
    if (request?.workspaceId !== actor.workspaceId) throw new Refusal('request_over', { state: 'unknown' });
    const { role, pattern, askerId, workspaceId } = request;
    about({ label: [input.answer, role, pattern, askerId].filter(Boolean).join(' ') });
    if (askerId === actor.userId) throw new Refusal('own_request', {});
    const grantee = { subjectKind: 'user', subjectId: askerId } as const;
    const at = services.system.now();
    const decision = { by: actor.userId, at };
    if (input.answer !== 'deny') await checkGrantee(grantee, { actor, services });
    const forMs = input.answer === 'deny' ? undefined : GRANT_TIMES[input.answer];
    const ending = forMs === undefined ? {} : { until: at + forMs };
    const grant = {
      ...grantee,
      workspaceId,
      role,
      pattern,
      grantedBy: actor.userId,
      grantedAt: at,
      ...ending,
    };
    const decided = await accessRequests.decide(
      request.id,
      input.answer === 'deny' ? decision : { ...decision, grant },
    );
    if (decided) return decided;
    const now = await accessRequests.find(request.id);
    throw new Refusal('request_over', {
      state: now?.state ?? 'unknown',
      ...(now?.decidedBy === undefined ? {} : { by: now.decidedBy }),
    });
  },
});
