import type { Decision } from '../../domain/decision.ts';
import { describeDefect, isExpected } from '../../domain/errors.ts';
import type { DecisionKind } from './decision-kind.ts';
import { notifyDecisionIfFree } from './notify-decision.ts';
import { FOLLOWING_MS, NOTIFY_FOR_MS } from './times.ts';

/** Work that follows from a decision and that a crash may have interrupted. */
export interface UnfinishedWork<Kind> {
  /** What was begun before that moment and has not ended. */
  list(before: number): Promise<readonly Kind[]>;
  resume(decision: Kind, now: number): Promise<void>;
}

/**
 * Expires decisions that were not made in time, and continues work that a crash or a Slack outage has interrupted. What a
 * living process works on is locked by it (docs/design.md 4.10). `startedAt` is when this process started: what is older was
 * most likely left by the one before it, and need not wait.
 */
export async function sweepDecisions<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  startedAt: number,
  unfinishedWork?: UnfinishedWork<Kind>,
): Promise<void> {
  const { store } = kind;
  const now = kind.app.system.now();
  const expired = await store.expire(now, (decision) => kind.auditOfExpiry(decision));
  const before = Math.max(startedAt, now - FOLLOWING_MS);
  const left = (await unfinishedWork?.list(before)) ?? [];
  const unnotified = await store.listUnnotified(before);
  for (const each of left) await tryTo(kind, each, async () => unfinishedWork?.resume(each, now));
  const isLeft = ({ id }: Kind) => left.some((each) => each.id === id);
  for (const each of [...expired, ...unnotified.filter((one) => !isLeft(one))])
    await tryTo(kind, each, () => notifyLate(kind, each, now));
}

async function notifyLate<Kind extends Decision>(
  kind: DecisionKind<Kind>,
  decision: Kind,
  now: number,
): Promise<void> {
  const { id, state, requestedAt, decidedAt = requestedAt } = decision;
  if (now - decidedAt <= NOTIFY_FOR_MS) {
    await notifyDecisionIfFree(kind, id);
    return;
  }
  // Too late for a message, but the buttons are still removed.
  if (state !== 'open') await kind.notifier.updateCards(decision);
  await kind.store.markNotified(id, state);
}

/** A failure of one must not hold up the others. */
async function tryTo<Kind extends Decision>(
  { app, name }: DecisionKind<Kind>,
  { id }: Kind,
  work: () => Promise<void>,
): Promise<void> {
  await work().catch((error: unknown) => {
    const cause = isExpected(error) ? { cause: error.code } : describeDefect(error);
    app.log.warn('a decision could not be moved on', { kind: name, confirmationId: id, ...cause });
  });
}
