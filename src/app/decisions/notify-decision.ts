import type { Card, Decision } from '../../domain/decision.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import type { DecisionKind } from './decision-kind.ts';

/**
 * Notifies users of the current state of a decision. While it is open, the deciders get cards; after that the cards show
 * the outcome, and the requester gets a message. If Slack refuses, the sweep tries again, even after a restart.
 * Returns the decision as it is then; undefined if there is none.
 */
export async function notifyDecision<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  id: ConfirmationId,
): Promise<Kind | undefined> {
  // One at a time: otherwise two workers could both find no cards and post them twice.
  return kind.app.locks.run(lockOf(id), () => notify(kind, id));
}

/** The same, unless another worker is notifying users of it, in any process. */
export async function notifyDecisionIfFree<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  id: ConfirmationId,
): Promise<void> {
  await kind.app.locks.runIfFree(lockOf(id), async () => {
    await notify(kind, id);
  });
}

function lockOf(id: ConfirmationId): string {
  return `request ${id}`;
}

async function notify<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  id: ConfirmationId,
): Promise<Kind | undefined> {
  const decision = await kind.store.find(id);
  if (!decision || decision.isNotified) return decision;
  await (decision.state === 'open' ? requestDecision(kind, decision) : notifyOfOutcome(kind, decision));
  return kind.store.find(id);
}

async function notifyOfOutcome<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  decision: Kind,
): Promise<void> {
  const { notifier, store, knownStates } = kind;
  const isShown = await notifier.updateCards(decision);
  const isNotified = knownStates.includes(decision.state) || (await notifier.notifyRequester(decision));
  if (!isNotified) return;
  // Slack may have come back between the two, and the sweep is done with what was notified.
  if (!isShown) await notifier.updateCards(decision);
  await kind.afterOutcome?.(decision);
  await store.markNotified(decision.id, decision.state);
}

async function requestDecision<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  decision: Kind,
): Promise<void> {
  const { notifier, store, notifiesRequesterWhenUnreached, confirmsToRequester } = kind;
  const { id, state } = decision;
  const cards = decision.cards.length > 0 ? decision.cards : await postCards(kind, decision);
  const isReached = cards.length > 0;
  const isNotified =
    isReached || (notifiesRequesterWhenUnreached && (await notifier.notifyRequester(decision)));
  if (isNotified) await store.markNotified(id, state);
  if (isReached && confirmsToRequester && decision.cards.length === 0)
    await notifier.notifyRequester({ ...decision, cards });
  // If it was decided while the cards were being posted, they still show it as open.
  const now = await store.find(id);
  if (now && now.state !== 'open') await notifier.updateCards(now);
}

async function postCards<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  decision: Kind,
): Promise<readonly Card[]> {
  const cards = await kind.notifier.postCards(decision, await kind.findDeciders(decision));
  await kind.store.storeCards(decision.id, cards);
  return cards;
}
