import { DatabaseUnreachable } from '../../domain/database-unreachable.ts';
import { describeDefect, isExpected, Refusal } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { refuseFrozen } from '../account/refuse-frozen.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import type { RenewalBatch } from './ports.ts';
import { runBatch } from './run-batch.ts';

export interface ConfirmedBatch {
  readonly batch: RenewalBatch;
  /** False when the same form was confirmed before. */
  readonly isNew: boolean;
}

/**
 * Writes durably, before the ack, that its user confirmed these renewals. Each is then confirmed by itself, right before it is
 * sent, so that roles, budgets, approvals and the freeze count as they are at that moment.
 * Money effect: none yet; what follows pays once for each server, and never for a month that someone else has already renewed.
 * @throws Refusal `stale_confirmation` when the form is not this user's or was stored too long ago; `purchases_frozen`,
 * `order_unsaved`
 */
export const confirmRenewals = defineUseCase({
  name: 'renew_all',
  needs: 'manager',
  effect: 'confirms',
  isOrder: true,
  run: (input: { readonly id: ConfirmationId }, context): Promise<ConfirmedBatch> =>
    confirm(input.id, context).catch((error: unknown) => {
      if (isExpected(error)) throw error;
      context.app.log.error('renewals could not be confirmed', describeDefect(error));
      throw new Refusal('order_unsaved', { isDatabaseAway: error instanceof DatabaseUnreachable });
    }),
  follow: async ({ batch, isNew }, { actor, app }) => {
    if (isNew) await runBatch(batch, actor, app);
  },
});

async function confirm(id: ConfirmationId, { actor, app }: UseCaseContext): Promise<ConfirmedBatch> {
  const { renewalBatches, workspaces, system } = app;
  const batch = await renewalBatches.find(id);
  const isOwn = batch?.workspaceId === actor.workspaceId && batch.actorId === actor.userId;
  if (!batch || !isOwn) throw new Refusal('stale_confirmation', {});
  if (batch.state !== 'open') return { batch, isNew: false };
  await refuseFrozen(actor.workspaceId, workspaces);
  const at = system.now();
  return { batch: { ...batch, at }, isNew: await renewalBatches.confirm(id, at) };
}
