import type { WorkspaceId } from '../../domain/ids.ts';
import type { CreatedServer } from '../../domain/known-price.ts';
import type { Operation, Standing } from '../../domain/operation.ts';

/** A purchase with its price and its state. */
export type PricedPurchase = Pick<Operation, 'purchase' | 'price'> & Standing;

/** What the ledger knows about prices, for all servers of a workspace at once. */
export interface Prices {
  /** The servers that settled creates of this workspace have made; of several with one ID, the newest. */
  listCreated(workspaceId: WorkspaceId): Promise<readonly CreatedServer[]>;
  /** Purchases that were confirmed since then and have paid, may still pay, or were ended without proof that they have not. */
  listPurchases(workspaceId: WorkspaceId, since: number): Promise<readonly PricedPurchase[]>;
}
