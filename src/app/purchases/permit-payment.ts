import { Refusal } from '../../domain/errors.ts';
import type { ServerId } from '../../domain/ids.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { labelOf } from '../../domain/operation.ts';
import { DEFAULT_SETTINGS, needsApproval } from '../../domain/settings.ts';
import { getHostingOf } from '../account/hosting-since.ts';
import { hasRole } from '../authorize/find-roles.ts';
import { newLease } from './lease.ts';
import type { Payment } from './payment.ts';
import type { Versions } from './ports.ts';

/** Reads from the hosting API whether it is still what was confirmed; returns the IDs that exist, for a create. */
type Check = () => Promise<readonly ServerId[]>;

interface Looked {
  readonly knownIds: readonly ServerId[];
  /** From before the look: what has changed since they were read may have been missed. */
  readonly versions: Versions;
  /** On the monotonic clock. */
  readonly at: number;
}

/** What was looked up earlier than this is looked up again before anything is sent. */
const GOOD_FOR_MS = 10_000;
const MOST_LOOKS = 5;

/**
 * Looks up everything that permits a payment, and makes the step that is committed right before its first byte leaves
 * (docs/design.md 4.2). By then it was looked up within ten seconds, and the commit compares that nothing has changed
 * since; only the owner of the lease and of the lock gets past it.
 * @throws Refusal `no_api_key`, `account_changed`, `role_needed`, `identity_unknown`, `approval_needed`,
 * `stale_confirmation`, and what the check throws
 */
export async function permitPayment(payment: Payment, check: Check): Promise<() => Promise<void>> {
  const { system } = payment.ports;
  let looked = await look(payment, check);
  return async () => {
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      if (system.elapsed() - looked.at > GOOD_FOR_MS) looked = await look(payment, check);
      const outcome = await commitSent(payment, looked);
      if (outcome === 'sent') return;
      if (outcome === 'refused') break;
      looked = await look(payment, check);
    }
    throw new Refusal('stale_confirmation', {});
  };
}

async function look(payment: Payment, check: Check): Promise<Looked> {
  const { operation, ports } = payment;
  const at = ports.system.elapsed();
  const versions = await ports.ledger.readVersions(operation.workspaceId);
  await getHostingOf(operation, ports);
  await requireRole(payment);
  await requireApproval(payment);
  return { knownIds: await check(), versions, at };
}

async function requireRole({ operation, ports }: Payment): Promise<void> {
  const { workspaceId, actorId: userId, channelId, purchase } = operation;
  const actor = omitUndefined({ workspaceId, userId, channelId });
  const mayStill = await hasRole(actor, 'manager', labelOf(purchase), ports);
  if (!mayStill) throw new Refusal('role_needed', { needed: 'manager' });
}

/** The two-person rule may have been turned on since. What was approved has the id of its approval. */
async function requireApproval({ operation, ports }: Payment): Promise<void> {
  const { id, workspaceId, purchase, price } = operation;
  const { approval: rule } = (await ports.workspaces.find(workspaceId))?.settings ?? DEFAULT_SETTINGS;
  if (needsApproval(rule, purchase.kind, price) && !(await ports.approvals.find(id)))
    throw new Refusal('approval_needed', {});
}

async function commitSent(
  { operation, hosting, owner, lock, ports }: Payment,
  { knownIds, versions }: Looked,
) {
  const { ledger, system } = ports;
  if (!(await ledger.lease(operation.id, newLease(ports, owner)))) return 'refused';
  const { account } = hosting;
  return ledger.markSent(operation.id, { at: system.now(), owner, account, knownIds, versions, lock });
}
