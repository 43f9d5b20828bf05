import type { Approval } from '../../domain/approval.ts';
import type { HostingError, Refusal } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { claimOf, type Operation } from '../../domain/operation.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { AppContext } from '../ports.ts';
import type { BatchedRenewal, RenewalBatch } from './ports.ts';

/** The state of one of several renewals. */
export type RenewalResult = { readonly renewal: BatchedRenewal } & RenewalStanding;

type RenewalStanding =
  /** `isOwn` is false when someone else had already renewed that month. */
  | { readonly kind: 'operation'; readonly operation: Operation; readonly isOwn: boolean }
  | { readonly kind: 'waiting'; readonly approval: Approval }
  | { readonly kind: 'failed'; readonly error: HostingError | Refusal }
  | { readonly kind: 'not_begun' };

/** Notifies users of renewals that they confirmed together. Never throws. */
export interface BatchNotifier {
  /** Reports the outcome of all of them to the user; true if Slack accepted the message. */
  notifyBatch(batch: RenewalBatch, results: readonly RenewalResult[]): Promise<boolean>;
}

/** After this time a message would come too late. */
const TELL_WITHIN_MS = DAY_MS;

/** Reports the outcome of all renewals, and ends the batch once Slack has accepted the message. */
export async function endBatch(
  id: ConfirmationId,
  failures: ReadonlyMap<ConfirmationId, HostingError | Refusal>,
  app: AppContext,
): Promise<void> {
  const batch = await app.renewalBatches.find(id);
  if (batch?.state !== 'confirmed') return;
  const isTold = await app.batchNotifier.notifyBatch(batch, await listResults(batch, failures, app));
  if (isTold || app.system.now() - batch.at > TELL_WITHIN_MS) await app.renewalBatches.end(id);
}

/** What the ledger and the approvals say counts; they outlive the process. */
export async function listResults(
  { workspaceId, renewals }: RenewalBatch,
  failures: ReadonlyMap<ConfirmationId, HostingError | Refusal>,
  { ledger, approvals, reminders }: AppContext,
): Promise<readonly RenewalResult[]> {
  const ids = renewals.map(({ serverId }) => serverId);
  const others = await reminders.listRenewals(workspaceId, ids);
  const byClaim = new Map(others.map((operation) => [claimOf(operation.purchase), operation]));
  const find = async (renewal: BatchedRenewal): Promise<RenewalStanding> => {
    const own = await ledger.find(renewal.id);
    if (own) return { kind: 'operation', operation: own, isOwn: true };
    const approval = await approvals.find(renewal.id);
    if (approval) return { kind: 'waiting', approval };
    const operation = byClaim.get(claimOf({ kind: 'renew', ...renewal }));
    if (operation) return { kind: 'operation', operation, isOwn: false };
    const error = failures.get(renewal.id);
    return error ? { kind: 'failed', error } : { kind: 'not_begun' };
  };
  return Promise.all(renewals.map(async (renewal) => ({ renewal, ...(await find(renewal)) })));
}
