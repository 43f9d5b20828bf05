import { type Catalog, findPlan } from './catalog.ts';
import type { ServerId, UserId } from './ids.ts';
import { isSameLabel } from './label.ts';
import type { Money } from './money.ts';
import type { Server } from './server.ts';

/** What the order of a server that was created with this app says about it: the API's record has no plan and no price. */
export interface CreatedServer {
  readonly id: ServerId;
  /** As it was ordered. */
  readonly label: string;
  readonly plan: string;
  /** The monthly price that was paid then. */
  readonly paid?: Money;
  readonly creatorId: UserId;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Which API key the workspace had when it was ordered: the count of its changes. */
  readonly keyGeneration: number;
}

/**
 * What one more month of a server costs, as far as it is known: what the catalog says today of the plan that was ordered
 * or, if it has no such plan any more, what was paid when the server was created. Neither is a promise: the document does
 * not say what a renewal costs (docs/hosting-api.md 2.8).
 */
export interface KnownPrice {
  readonly monthly: Money;
  readonly source: 'catalog' | 'paid';
}

/**
 * Whether this order made this server. After the API key was replaced, the same ID may be another account's server: then
 * the label has to match, too.
 */
export function isOrderOf(
  { label, keyGeneration }: Pick<CreatedServer, 'label' | 'keyGeneration'>,
  server: Pick<Server, 'label'>,
  currentGeneration: number | undefined,
): boolean {
  return keyGeneration === currentGeneration || isSameLabel(label, server.label);
}

/** The price of a month; undefined when neither the catalog nor the order names one. */
export function findKnownPrice(
  { plan, paid }: Pick<CreatedServer, 'plan' | 'paid'>,
  catalog: Catalog,
): KnownPrice | undefined {
  const today = findPlan(catalog, plan);
  if (today) return { monthly: today.monthly, source: 'catalog' };
  return paid === undefined ? undefined : { monthly: paid, source: 'paid' };
}
