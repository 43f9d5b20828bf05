import type { Actor } from '../../domain/actor.ts';
import type { ClosedState, Decision } from '../../domain/decision.ts';
import { Refusal } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import type { DecisionKind } from './decision-kind.ts';

/** @throws Refusal `request_over` when this workspace has no such decision */
export async function getDecision<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  id: ConfirmationId,
  { workspaceId }: Actor,
): Promise<Kind> {
  const decision = await kind.store.find(id);
  if (decision?.workspaceId !== workspaceId) throw new Refusal('request_over', { state: 'unknown' });
  return decision;
}

/** @throws Refusal `own_request`: the requester never decides */
export function refuseOwnRequest({ requesterId }: Decision, { userId }: Actor): void {
  if (requesterId === userId) throw new Refusal('own_request', {});
}

/** @throws Refusal `not_requester`: only the requester withdraws */
export function refuseOthersRequest({ requesterId }: Decision, { userId }: Actor): void {
  if (requesterId !== userId) throw new Refusal('not_requester', { requesterId });
}

/**
 * Another user was faster, or it has expired: updates cards that still have their buttons, and refuses.
 * @throws Refusal `request_over`
 */
export async function refuseClosed<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  id: ConfirmationId,
): Promise<never> {
  const decision = await kind.store.find(id);
  if (decision && decision.state !== 'open') await kind.notifier.updateCards(decision);
  throw new Refusal('request_over', {
    state: closedStateOf(decision),
    by: decision?.decidedBy,
  });
}

/** If it is still open but can't be decided any more, it has expired and the sweep has not handled it yet. */
function closedStateOf(decision: Decision | undefined): ClosedState {
  if (!decision) return 'unknown';
  return decision.state === 'open' ? 'expired' : decision.state;
}
