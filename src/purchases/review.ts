import { getWorkspace, refuseFrozen } from '../account/workspaces.ts';
import { type Catalog, findPlan, type Order, type Plan } from '../core/catalog.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ServerId } from '../core/ids.ts';
import { findNearest, isSameLabel, parseLabel } from '../core/labels.ts';
import type { Money } from '../core/money.ts';
import { isDeleted, type Server } from '../core/server.ts';
import { needsApproval, takesApprovals } from '../core/settings.ts';
import { getServer, type ServerRef } from '../servers/find.ts';
import { type BudgetState, isOverBudget, readBudget } from './budget.ts';
import type { Purchase } from './operation.ts';
import { isOrderOf } from './prices.ts';

/**
 * The form of a create is opened: what can be chosen, and the choices that were typed, checked.
 * @throws Refusal `purchases_frozen`
 */
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
  /** Another manager has to approve it. */
  readonly takesApproval: boolean;
}

/** Reads them for a purchase of that price. @throws Refusal `purchases_frozen` */
export async function readTerms(
  kind: Purchase['kind'],
  price: Money | undefined,
  context: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<Terms> {
  await refuseFrozen(context.actor.workspaceId, context.app.workspaces);
  const { approval } = (await getWorkspace(context)).settings;
  const budget = await readBudget(context);
  const isOver = budget !== undefined && isOverBudget(budget, price);
  const takesApproval = needsApproval(approval, kind, price) || (isOver && takesApprovals(approval, kind));
  return { takesApproval, isOverBudget: isOver, budget };
}

/**
 * Checks an order against the catalog and reads its price.
 * @throws Refusal `unknown_choice`, `bad_label`, `role_needed` when the actor's role is for other labels
 */
export const reviewCreate = defineUseCase({
  name: 'create',
  needs: 'manager',
  effect: 'reads',
  run: async (input: { order: Order }, context): Promise<CreateReview> => {
    const hosting = await context.hosting();
    const [catalog, { servers }] = await Promise.all([hosting.fetchCatalog(), hosting.fetchServers()]);
    const order = { ...input.order, label: parseLabel(input.order.label) };
    await context.requireRoleFor(order.label);
    const plan = getPlanOf(order, catalog);
    const namesakeIds = listNamesakes(servers, order.label);
    if (namesakeIds.length > MOST_NAMESAKES)
      throw new Refusal('bad_label', { problem: `${namesakeIds.length} servers already have it` });
    return { order, plan, terms: await readTerms('create', plan.monthly, context), namesakeIds };
  },
});

/** The metadata of a form has no room for more IDs. */
const MOST_NAMESAKES = 20;

/** The servers whose labels users would read as that one. */
export function listNamesakes(servers: readonly Server[], label: string): readonly ServerId[] {
  return servers.filter((each) => isSameLabel(each.label, label) && !isDeleted(each)).map(({ id }) => id);
}

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

function getPlanOf(order: Order, catalog: Catalog): Plan {
  const [wrong] = findWrongChoices(order, catalog);
  const plan = findPlan(catalog, order.plan);
  if (wrong || !plan) throw wrong ?? new Refusal('unknown_choice', { field: 'plan', typed: order.plan });
  return plan;
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

/**
 * Looks at what a renewal would pay.
 * @throws Refusal `paid_until_unknown` when a list could not show afterwards whether it had happened
 */
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

type PlanContext = Pick<UseCaseContext, 'actor' | 'app' | 'hosting'>;

async function findPlanOf({ id, label }: Server, context: PlanContext): Promise<Plan | undefined> {
  const { app } = context;
  const created = await app.ledger.findCreateOf(context.actor.workspaceId, id);
  if (created?.purchase.kind !== 'create') return undefined;
  const { order } = created.purchase;
  const held = await app.apiKeys.find(context.actor.workspaceId);
  const isOwn = isOrderOf({ ...created, label: order.label }, { label }, held?.account);
  if (!isOwn) return undefined;
  const hosting = await context.hosting();
  return findPlan(await hosting.fetchCatalog(), order.plan);
}

/** What the catalog quotes today for the plan that was ordered; undefined when it was not created with this app. */
export async function findRenewPrice(server: Server, context: PlanContext): Promise<Money | undefined> {
  return (await findPlanOf(server, context))?.monthly;
}
