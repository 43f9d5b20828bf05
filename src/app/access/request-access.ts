import { coversRole, type HeldRoles } from '../../domain/access.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import { type Role, roleCovers } from '../../domain/actor.ts';
import { Refusal } from '../../domain/errors.ts';
import type { ConfirmationId, UserId } from '../../domain/ids.ts';
import { EVERY_SERVER, exactPattern } from '../../domain/label-pattern.ts';
import { HOUR_MS, WEEK_MS } from '../../domain/time.ts';
import { findRoles } from '../authorize/find-roles.ts';
import { defineUseCase } from '../authorize/use-case.ts';
import { listDeciders } from './access-kind.ts';
import { checkGrantee } from './check-grantee.ts';
import { notifyAccessRequest } from './notify-access-request.ts';
import type { RequestOutcome } from './ports.ts';

/** A second request for the same within this time is refused, and so are more than a few for anything. */
const REPEAT_MS = HOUR_MS;
const MOST_REQUESTS = 3;
/** How long a request stays open; after that, its reason no longer matters. */
const OPEN_MS = WEEK_MS;

/** A role, on the server of this label or on all. */
export interface WantedRole {
  readonly role: Role;
  readonly label?: string;
}

export interface RequestedAccess {
  readonly request: AccessRequest;
  /** The owners who can answer; empty if none is known by ID. */
  readonly owners: readonly UserId[];
}

/**
 * Checks whether such a role can be granted at all.
 * @throws Refusal `owner_limited`, `label_needed`
 */
export function checkWantedRole({ role, label }: WantedRole): void {
  if (role === 'owner' && label !== undefined) throw new Refusal('owner_limited', {});
  // Without a label the pattern would be one for every server.
  if (label === '') throw new Refusal('label_needed', { role });
}

/**
 * Requests a role from the owners, for one server or for all. While no owner has been reached, repeating it returns the
 * same request.
 * @throws Refusal `owner_limited`, `label_needed`, `role_held`, `asked_before`, `asked_enough`, `no_grantee`
 */
export const requestAccess = defineUseCase({
  name: 'access_ask',
  needs: 'anyone',
  effect: 'changes',
  subject: ({ role, label }) => ({ label: [role, label].filter(Boolean).join(' ') }),
  run: async (
    input: WantedRole & { id: ConfirmationId; reason: string; command?: string | undefined },
    { actor, app },
  ): Promise<RequestedAccess> => {
    const { id, role, label, reason, command } = input;
    const { workspaceId, userId: requesterId, channelId } = actor;
    checkWantedRole(input);
    if (isHeld(await findRoles(actor, app), role, label)) throw new Refusal('role_held', { role });
    await checkGrantee({ subjectKind: 'user', subjectId: requesterId }, { actor, app });
    const requestedAt = app.system.now();
    const pattern = label === undefined ? EVERY_SERVER : exactPattern(label);
    const times = { requestedAt, expiresAt: requestedAt + OPEN_MS };
    const wanted = { id, workspaceId, requesterId, role, pattern, reason, ...times };
    const outcome = await app.accessRequests.request(
      { ...wanted, channelId, command },
      { since: requestedAt - REPEAT_MS, most: MOST_REQUESTS },
    );
    const request = takeRequest(outcome);
    const replaced = outcome.kind === 'new' ? outcome.replaced : [];
    const [notified = request] = await Promise.all(
      [request, ...replaced].map((each) => notifyAccessRequest(each.id, app)),
    );
    return { request: notified, owners: await listDeciders(request, app) };
  },
});

/** @throws Refusal `asked_before`, `asked_enough`; a repeated one that has reached no owner is not refused */
function takeRequest(outcome: RequestOutcome): AccessRequest {
  if (outcome.kind === 'too_many') {
    const againAt = (outcome.recent.at(-MOST_REQUESTS)?.requestedAt ?? 0) + REPEAT_MS;
    const wishes = outcome.recent.map(({ role, pattern, requestedAt: at }) => ({ role, pattern, at }));
    throw new Refusal('asked_enough', { wishes, againAt });
  }
  const { request } = outcome;
  const isUnheard = request.state === 'open' && request.cards.length === 0;
  if (outcome.kind === 'new' || isUnheard) return request;
  const { requestedAt: at, state } = request;
  throw new Refusal('asked_before', { at, state, againAt: at + REPEAT_MS });
}

function isHeld(roles: HeldRoles, wanted: Role, label: string | undefined): boolean {
  if (label !== undefined) return coversRole(roles, wanted, label);
  return roles.some(({ role, pattern }) => roleCovers(role, wanted) && pattern === EVERY_SERVER);
}
