import { getWorkspace, refuseFrozen } from '../account/workspaces.ts';
import { type Catalog, findPlan, type Order, type Plan } from '../core/catalog.ts';
import { defineUseCase, type FollowUpContext, type UseCaseContext } from '../core/entry.ts';
import { DatabaseUnreachable, describeDefect, isExpected, Refusal } from '../core/errors.ts';
import type { ChannelId, ConfirmationId, ServerId } from '../core/ids.ts';
import { findNearest, parseLabel } from '../core/labels.ts';
import type { Money } from '../core/money.ts';
import type { Server } from '../core/server.ts';
import { needsApproval, takesApprovals } from '../core/settings.ts';
import { requestApproval } from '../requests/approval.ts';
import { notifyRequest } from '../requests/notify.ts';
import { APPROVALS, type Approval } from '../requests/request.ts';
import { getServer, type ServerRef } from '../servers/find.ts';
import { type BudgetState, findBudget, findOrderOf, isOverBudget, readBudget } from './costs.ts';
import type { Prepared } from './ledger.ts';
import { labelOf, type Operation, type Purchase } from './operation.ts';
import { runOperation } from './pay.ts';
import { listNamesakes } from './send.ts';

/** @throws Refusal `purchases_frozen` */
export const openCreate = defineUseCase({
  name: 'create',
  needs: 'manager',
  effect: 'reads',
  run: async (_input: Record<never, never>, context): Promise<Catalog> => {
    await refuseFrozen(context.actor.workspaceId, context.app.workspaces);
    const hosting = await context.hosting();
    return hosting.fetchCatalog();
  },
});

export interface CreateReview {
  readonly order: Order;
  readonly plan: Plan;
  /** Servers that already have that label: as far as we know, the API allows it, but it's rarely intended. */
  readonly namesakeIds: readonly ServerId[];
  readonly terms: Terms;
}

/** What else decides whether a purchase goes through: the workspace's budget and its two-person rule. */
export interface Terms {
  readonly budget?: BudgetState;
  readonly isOverBudget: boolean;
  readonly takesApproval: boolean;
}

/** Reads them for a purchase of that price. @throws Refusal `purchases_frozen` */
export async function readTerms(
  kind: Purchase['kind'],
  price: Money | undefined,
  context: FollowUpContext,
): Promise<Terms> {
  await refuseFrozen(context.actor.workspaceId, context.app.workspaces);
  const { approval } = (await getWorkspace(context)).settings;
  const budget = await readBudget(context);
  const isOver = isOverBudget(budget, price);
  const takesApproval = needsApproval(approval, kind, price) || (isOver && takesApprovals(approval, kind));
  return { takesApproval, isOverBudget: isOver, budget };
}

/** @throws Refusal `unknown_choice`, `bad_label`, `role_needed` when the actor's role is for other labels */
export const reviewCreate = defineUseCase({
  name: 'create',
  needs: 'manager',
  effect: 'reads',
  run: async (input: { order: Order }, context): Promise<CreateReview> => {
    const hosting = await context.hosting();
    const [catalog, { servers }] = await Promise.all([hosting.fetchCatalog(), hosting.fetchServers()]);
    const order = { ...input.order, label: parseLabel(input.order.label) };
    await context.requireRoleFor(order.label);
    const [wrong] = findWrongChoices(order, catalog);
    const plan = findPlan(catalog, order.plan);
    if (wrong || !plan) throw wrong ?? new Refusal('unknown_choice', { field: 'plan', typed: order.plan });
    const namesakeIds = listNamesakes(servers, order.label);
    if (namesakeIds.length > MOST_NAMESAKES)
      throw new Refusal('bad_label', { problem: `${namesakeIds.length} servers already have it` });
    return { order, plan, terms: await readTerms('create', plan.monthly, context), namesakeIds };
  },
});

/** The metadata of a form has no room for more IDs. */
const MOST_NAMESAKES = 20;

/** Finds what was chosen and is not in the catalog, with the nearest that is; what was not chosen yet is not wrong. */
export function findWrongChoices(wanted: Partial<Order>, catalog: Catalog): Refusal[] {
  const fields = [
    { field: 'plan', choices: catalog.plans.map((plan) => plan.code) },
    { field: 'location', choices: catalog.locations },
    { field: 'image', choices: catalog.images },
  ] as const;
  return fields.flatMap(({ field, choices }) => {
    const typed = wanted[field];
    if (typed === undefined || choices.includes(typed)) return [];
    return [new Refusal('unknown_choice', { field, typed, nearest: findNearest(typed, choices) })];
  });
}

export interface RenewReview {
  readonly server: Server;
  readonly paidUntil: number;
  /**
   * The plan that was ordered with this app, as the catalog shows it today. Its price is a quote, not a fact: the API's
   * record has no plan and no price, and the document does not say that a renewal costs what the catalog says
   * (docs/hosting-api.md 2.8). Absent for servers that were not created with this app, and for plans that are gone.
   */
  readonly plan?: Plan;
  readonly terms: Terms;
}

/** @throws Refusal `paid_until_unknown` when a list could not show afterwards whether it had happened */
export const reviewRenew = defineUseCase({
  name: 'renew',
  needs: 'manager',
  effect: 'reads',
  run: async (input: { ref: ServerRef }, context): Promise<RenewReview> => {
    const server = await getServer(input.ref, context, { freshness: 'fresh' });
    if (server.paidUntil === undefined) throw new Refusal('paid_until_unknown', { label: server.label });
    const plan = await findPlanOf(server, context);
    const terms = await readTerms('renew', plan?.monthly, context);
    return { server, paidUntil: server.paidUntil, terms, plan };
  },
});

type PlanContext = FollowUpContext & { readonly hosting: UseCaseContext['hosting'] };

/** What the catalog quotes today for the plan that was ordered; undefined when the server was not created with this app. */
export async function findPlanOf(server: Server, context: PlanContext): Promise<Plan | undefined> {
  const created = await findOrderOf(server, context);
  if (!created) return undefined;
  const hosting = await context.hosting();
  return findPlan(await hosting.fetchCatalog(), created.order.plan);
}

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
    confirmOne(input, context).catch((error: unknown) => refuseUnsaved(error, input.id, context)),
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
  const { workspaceId, userId: actorId, channelId } = context.actor;
  await refuseFrozen(workspaceId, context.app.workspaces);
  const { approval: rule } = (await getWorkspace(context)).settings;
  const requestOther = async (isOver: boolean): Promise<Confirmed> => ({
    kind: 'waiting',
    ...(await requestApproval({ id, kind: 'purchase', purchase, price, isOverBudget: isOver }, context)),
  });
  if (needsApproval(rule, purchase.kind, price))
    return requestOther(isOverBudget(await readBudget(context), price));
  const at = input.confirmedAt ?? context.app.system.now();
  const operation = { id, workspaceId, actorId, channelId, purchase, price, at };
  const prepared = await context.app.ledger.prepare(operation, await findBudget(context));
  if (prepared.kind === 'claimed_elsewhere')
    throw new Refusal('renewed_elsewhere', { label: labelOf(purchase) });
  if (prepared.kind !== 'over_budget') return paying(prepared, context);
  if (takesApprovals(rule, purchase.kind)) return requestOther(true);
  const { whose, spent, most } = prepared;
  throw new Refusal('over_budget', { whose, spent, most, price });
}

/** The store failed, and it isn't known whether the confirmation was written: it may still be carried out. */
export function refuseUnsaved(error: unknown, id: ConfirmationId, { app }: FollowUpContext): never {
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

function paying(
  { kind, operation }: Extract<Prepared, { operation: Operation }>,
  { actor }: ConfirmContext,
): Confirmed {
  if (operation.workspaceId !== actor.workspaceId) throw new Refusal('other_workspace', {});
  return { kind: 'paying', isNew: kind === 'new', operation };
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
