import type { Approval } from '../../domain/approval.ts';
import { Refusal } from '../../domain/errors.ts';
import type { Money } from '../../domain/money.ts';
import { labelOf, type Operation, type Purchase } from '../../domain/operation.ts';
import { needsApproval, takesApprovals } from '../../domain/settings.ts';
import { getWorkspace } from '../account/change-settings.ts';
import { notifyApproval } from '../approvals/notify-approval.ts';
import { requestApproval } from '../approvals/request-approval.ts';
import { type UseCaseContext, useCasesOver } from '../authorize/use-case.ts';
import type { AppPorts } from '../ports.ts';
import { findBudget, isOverBudget, readBudget } from './budget.ts';
import type { NewOperation, Prepared } from './ports.ts';
import { runOperation } from './run-operation.ts';

const defineUseCase = useCasesOver<AppPorts>();

export interface Confirmation {
  /** Made when the form was opened: two presses of one form carry the same one. */
  readonly operationId: string;
  readonly purchase: Purchase;
  /** What the review showed; absent where no price is known. */
  readonly price?: Money;
}

/** It is paid for, or waits for a second person; `isNew` is false when this or the like was confirmed before. */
export type Confirmed =
  | { readonly kind: 'paying'; readonly isNew: boolean; readonly operation: Operation }
  | { readonly kind: 'waiting'; readonly isNew: boolean; readonly approval: Approval };

/**
 * Writes the confirmation durably. Called before the ack, and nothing else is written then.
 * Money effect: none yet; what follows sends it. A second confirmation of the same form, or of the same
 * month of the same server, gets the first one's operation and `isNew: false`.
 * @throws Refusal `over_budget`; `role_needed` when the actor's role is for other servers
 */
export const confirmPurchase = defineUseCase({
  name: 'confirm',
  needs: 'manager',
  effect: 'confirms',
  run: async (input: Confirmation, context): Promise<Confirmed> => {
    const { purchase, price, operationId } = input;
    context.setSubject({
      operationId,
      label: labelOf(purchase),
      ...(price === undefined ? {} : { money: price }),
    });
    await context.requireRoleFor(labelOf(purchase));
    const earlier = await findEarlier(operationId, context);
    if (earlier) return earlier;
    const { approval: rule } = (await getWorkspace(context)).settings;
    const action = { kind: 'purchase', purchase, ...(price === undefined ? {} : { price }) } as const;
    const ask = async (isOver: boolean): Promise<Confirmed> => ({
      kind: 'waiting',
      ...(await requestApproval({ id: operationId, action, isOverBudget: isOver }, context)),
    });
    if (needsApproval(rule, purchase.kind, price)) {
      const budget = await readBudget(context);
      return ask(budget !== undefined && isOverBudget(budget, price));
    }
    const operation = makeOperation(input, context);
    const prepared = await context.ports.ledger.prepare(operation, await findBudget(context));
    if (prepared.kind !== 'over_budget') return paying(prepared, context);
    if (takesApprovals(rule, purchase.kind)) return ask(true);
    const { whose, spent, most } = prepared;
    throw new Refusal('over_budget', { whose, spent, most, ...(price === undefined ? {} : { price }) });
  },
  follow: async (confirmed, { ports }) => {
    if (!confirmed.isNew) return;
    if (confirmed.kind === 'paying') await runOperation(confirmed.operation.id, ports);
    else await notifyApproval(confirmed.approval.id, ports);
  },
});

/** What the same form was confirmed for before stands, whatever the rule says since. */
async function findEarlier(id: string, context: UseCaseContext<AppPorts>): Promise<Confirmed | undefined> {
  const { ledger, approvals } = context.ports;
  const operation = await ledger.find(id);
  if (operation) return paying({ kind: 'known', operation }, context);
  const approval = await approvals.find(id);
  if (!approval) return undefined;
  if (approval.workspaceId !== context.actor.workspaceId) throw new Refusal('other_workspace', {});
  return { kind: 'waiting', isNew: false, approval };
}

/** @throws Refusal `other_workspace` */
function paying(
  { kind, operation }: Extract<Prepared, { operation: Operation }>,
  { actor }: UseCaseContext<AppPorts>,
): Confirmed {
  if (operation.workspaceId !== actor.workspaceId) throw new Refusal('other_workspace', {});
  return { kind: 'paying', isNew: kind === 'new', operation };
}

function makeOperation(
  { operationId, purchase, price }: Confirmation,
  { actor, ports }: UseCaseContext<AppPorts>,
): NewOperation {
  return {
    id: operationId,
    workspaceId: actor.workspaceId,
    actorId: actor.userId,
    ...(actor.channelId === undefined ? {} : { channelId: actor.channelId }),
    purchase,
    ...(price === undefined ? {} : { price }),
    at: ports.system.now(),
  };
}
