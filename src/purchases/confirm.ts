import { getWorkspace, refuseFrozen } from '../account/workspaces.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { DatabaseUnreachable, describeDefect, isExpected, Refusal } from '../core/errors.ts';
import type { ChannelId, ConfirmationId } from '../core/ids.ts';
import type { Money } from '../core/money.ts';
import { needsApproval, takesApprovals } from '../core/settings.ts';
import { requestApproval } from '../requests/approval.ts';
import { notifyRequest } from '../requests/notify.ts';
import { APPROVALS, type Approval } from '../requests/request.ts';
import { findBudget, isOverBudget, readBudget } from './budget.ts';
import { labelOf, type Operation, type Purchase } from './operation.ts';
import { runOperation } from './pay.ts';
import type { NewOperation, Prepared } from './ports.ts';

export interface Confirmation {
  /** Made when the form was opened: two presses of one form carry the same one. */
  readonly id: ConfirmationId;
  readonly purchase: Purchase;
  /** What the review showed; absent where no price is known. */
  readonly price?: Money;
  /** When its user pressed, where that was before now: it has to be sent soon after that. */
  readonly confirmedAt?: number;
}

/** It is being paid, or waits for another manager. `isNew` is false when it, or the same month, was confirmed before. */
export type Confirmed =
  | { readonly kind: 'paying'; readonly isNew: boolean; readonly operation: Operation }
  | { readonly kind: 'waiting'; readonly isNew: boolean; readonly approval: Approval };

/**
 * Writes the confirmation durably. Called before the ack, and nothing else is written then.
 * Money effect: none yet; what follows sends it. A second confirmation of the same form, or of the same
 * month of the same server, gets the first one's operation and `isNew: false`.
 * @throws Refusal `order_unsaved` when the store fails; `purchases_frozen`, `over_budget`, `renewed_elsewhere`; `role_needed` when
 * the actor's role is for other servers
 */
export const confirmPurchase = defineUseCase({
  name: 'confirm',
  needs: 'manager',
  effect: 'confirms',
  isOrder: true,
  run: (input: Confirmation, context): Promise<Confirmed> =>
    confirmOne(input, context).catch((error: unknown) => refuseUnsaved(error, input, context)),
  follow: async (confirmed, { app }) => {
    if (!confirmed.isNew) return;
    if (confirmed.kind === 'waiting') return notifyRequest(confirmed.approval.id, app);
    const { operation } = confirmed;
    await runOperation(operation.id, app).catch(async (error: unknown) => {
      await app.operationNotifier.notifyUnsaved(operation);
      throw error;
    });
  },
});

type ConfirmContext = Pick<UseCaseContext, 'actor' | 'app' | 'setSubject' | 'requireRoleFor'>;

/**
 * Writes one confirmation, or requests an approval instead. Money effect: none yet; `runOperation` sends it.
 * @throws Refusal as `confirmPurchase` does
 */
export async function confirmOne(input: Confirmation, context: ConfirmContext): Promise<Confirmed> {
  const { id, purchase, price } = input;
  context.setSubject({ operationId: id, label: labelOf(purchase), money: price });
  await context.requireRoleFor(labelOf(purchase));
  const earlier = await findEarlier(id, context);
  if (earlier) return earlier;
  await refuseFrozen(context.actor.workspaceId, context.app.workspaces);
  const { approval: rule } = (await getWorkspace(context)).settings;
  const action = { kind: 'purchase' as const, purchase, price };
  const requestOther = async (isOver: boolean): Promise<Confirmed> => ({
    kind: 'waiting',
    ...(await requestApproval({ id, ...action, isOverBudget: isOver }, context)),
  });
  if (needsApproval(rule, purchase.kind, price)) {
    const budget = await readBudget(context);
    return requestOther(budget !== undefined && isOverBudget(budget, price));
  }
  const operation = makeOperation(input, context);
  const prepared = await context.app.ledger.prepare(operation, await findBudget(context));
  if (prepared.kind === 'claimed_elsewhere')
    throw new Refusal('renewed_elsewhere', { label: labelOf(purchase) });
  if (prepared.kind !== 'over_budget') return paying(prepared, context);
  if (takesApprovals(rule, purchase.kind)) return requestOther(true);
  const { whose, spent, most } = prepared;
  throw new Refusal('over_budget', { whose, spent, most, price });
}

/** The store failed, and whether the confirmation was written is not known: it may still be carried out. */
function refuseUnsaved(error: unknown, { id }: Confirmation, { app }: UseCaseContext): never {
  if (isExpected(error)) throw error;
  app.log.error('a confirmation could not be saved', { operationId: id, ...describeDefect(error) });
  throw new Refusal('order_unsaved', { isDatabaseAway: error instanceof DatabaseUnreachable });
}

/** An earlier confirmation of the same form stays valid, even if the two-person rule has changed since. */
async function findEarlier(id: ConfirmationId, context: ConfirmContext): Promise<Confirmed | undefined> {
  const { ledger, requests } = context.app;
  const operation = await ledger.find(id);
  if (operation) return paying({ kind: 'known', operation }, context);
  const approval = await requests.find(id, APPROVALS);
  if (!approval) return undefined;
  if (approval.workspaceId !== context.actor.workspaceId) throw new Refusal('other_workspace', {});
  return { kind: 'waiting', isNew: false, approval };
}

/** @throws Refusal `other_workspace` */
function paying(
  { kind, operation }: Extract<Prepared, { operation: Operation }>,
  { actor }: ConfirmContext,
): Confirmed {
  if (operation.workspaceId !== actor.workspaceId) throw new Refusal('other_workspace', {});
  return { kind: 'paying', isNew: kind === 'new', operation };
}

function makeOperation(
  { id, purchase, price, confirmedAt }: Confirmation,
  { actor, app }: ConfirmContext,
): NewOperation {
  const { workspaceId, userId: actorId, channelId } = actor;
  const at = confirmedAt ?? app.system.now();
  return { id, workspaceId, actorId, channelId, purchase, price, at };
}

/**
 * Whether the outcome of the actor's order may be announced in a channel: only where Slack says that they are a member. From
 * then on, the order is as if it had been made there, with the roles that the channel gives its members; a menu also offers
 * channels that they are not in.
 */
export const mayChooseChannel = defineUseCase({
  name: 'create',
  needs: 'manager',
  effect: 'reads',
  run: async ({ channelId }: { channelId: ChannelId }, { actor, app }): Promise<boolean> =>
    (await app.channels.hasMember(actor.workspaceId, channelId, actor.userId)) === true,
});
