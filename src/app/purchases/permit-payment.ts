import { Refusal } from '../../domain/errors.ts';
import type { ServerId } from '../../domain/ids.ts';
import { labelOf } from '../../domain/operation.ts';
import { DEFAULT_SETTINGS, needsApproval } from '../../domain/settings.ts';
import { getHostingOf } from '../account/confirmed-account.ts';
import { refuseFrozen } from '../account/refuse-frozen.ts';
import { hasRole } from '../authorize/find-roles.ts';
import type { CallOptions, PaidCallOptions } from '../hosting-api.ts';
import { refuseOverBudget } from './budget.ts';
import { newLease } from './lease.ts';
import type { Payment } from './payment.ts';
import type { Versions } from './ports.ts';

/** Reads from the hosting API whether it is still what was confirmed; returns the IDs that exist, for a create. */
type Check = (how: Pick<CallOptions, 'urgency'>) => Promise<readonly ServerId[]>;

interface Looked {
  readonly knownIds: readonly ServerId[];
  /** From before the look: what has changed since they were read may have been missed. */
  readonly versions: Versions;
  /** On the monotonic clock. */
  readonly at: number;
}

/** What was looked up earlier than this is looked up again before anything is sent. */
const GOOD_FOR_MS = 10_000;
const MOST_LOOKS = 20;

/**
 * Looks up everything that permits a payment, then sends it. Right before its first byte leaves, the step is committed
 * (docs/design.md 4.2): by then it was looked up within ten seconds, and the commit compares that nothing has changed
 * since; only the owner of the lease and of the lock gets past it.
 *
 * What has to be looked up again is looked up without the limiter's slot. Otherwise all slots could be held by payments
 * that wait for a read, and the read would wait for a slot. The next try comes before those that have not waited yet.
 * @throws Refusal `no_api_key`, `account_changed`, `role_needed`, `identity_unknown`, `approval_needed`, `over_budget`,
 * `purchases_frozen`, `stale_confirmation`, and what the check and the sending throw
 */
export async function sendPermitted<Answer>(
  payment: Payment,
  check: Check,
  send: (options: PaidCallOptions) => Promise<Answer>,
): Promise<Answer> {
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const how = looks === 0 ? {} : ({ urgency: 'payment' } as const);
    const looked = await look(payment, () => check(how));
    try {
      return await send({ ...how, beforeSend: () => commit(payment, looked) });
    } catch (error) {
      if (!(error instanceof LookedTooEarly)) throw error;
    }
  }
  throw new Refusal('stale_confirmation', {});
}

/** Thrown before anything was sent: what was looked up is too old, or has changed since. */
class LookedTooEarly extends Error {}

async function commit(payment: Payment, looked: Looked): Promise<void> {
  const { system } = payment.app;
  if (system.elapsed() - looked.at > GOOD_FOR_MS) throw new LookedTooEarly();
  const outcome = await commitSent(payment, looked);
  if (outcome === 'outdated') throw new LookedTooEarly();
  if (outcome === 'refused') throw new Refusal('stale_confirmation', {});
}

async function look(payment: Payment, check: () => Promise<readonly ServerId[]>): Promise<Looked> {
  const { operation, app } = payment;
  const at = app.system.elapsed();
  const versions = await app.ledger.readVersions(operation.workspaceId);
  await getHostingOf(operation, app);
  await refuseFrozen(operation.workspaceId, app.workspaces);
  await requireRole(payment);
  await requireApproval(payment);
  await refuseOverBudget(operation, app);
  return { knownIds: await check(), versions, at };
}

async function requireRole({ operation, app }: Payment): Promise<void> {
  const { workspaceId, actorId: userId, channelId, purchase } = operation;
  const actor = { workspaceId, userId, channelId };
  const mayStill = await hasRole(actor, 'manager', labelOf(purchase), app);
  if (!mayStill) throw new Refusal('role_needed', { needed: 'manager' });
}

/** The two-person rule may have been turned on since. What was approved has the id of its approval. */
async function requireApproval({ operation, app }: Payment): Promise<void> {
  const { id, workspaceId, purchase, price } = operation;
  const { approval: rule } = (await app.workspaces.find(workspaceId))?.settings ?? DEFAULT_SETTINGS;
  if (!needsApproval(rule, purchase.kind, price)) return;
  // The form may have been confirmed a second time after the rule had changed: that request may be open or denied.
  if ((await app.approvals.find(id))?.state !== 'approved') throw new Refusal('approval_needed', {});
}

async function commitSent({ operation, hosting, owner, lock, app }: Payment, { knownIds, versions }: Looked) {
  const { ledger, system } = app;
  if (!(await ledger.lease(operation.id, newLease(app, owner)))) return 'refused';
  const { account } = hosting;
  return ledger.markSent(operation.id, { at: system.now(), owner, account, knownIds, versions, lock });
}
