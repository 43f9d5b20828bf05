import type { Catalog } from '../../domain/catalog.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { type CreatedServer, findKnownPrice, isOrderOf, type KnownPrice } from '../../domain/known-price.ts';
import type { Server } from '../../domain/server.ts';
import type { AppContext } from '../ports.ts';

/** A server's order with this app and, as far as it is known, the price of a month. */
export interface PricedServer {
  readonly created: CreatedServer;
  readonly price?: KnownPrice;
}

/** Undefined for a server that was not created with this app in this workspace. */
export type FindPrice = (server: Pick<Server, 'id' | 'label'>) => PricedServer | undefined;

/** Reads, with one query for all servers of a workspace, what a month of each costs as far as it is known. */
export async function readKnownPrices(
  workspaceId: WorkspaceId,
  catalog: Catalog,
  { ledger, apiKeys }: AppContext,
): Promise<FindPrice> {
  const [all, held] = await Promise.all([ledger.listCreated(workspaceId), apiKeys.find(workspaceId)]);
  const byId = new Map(all.map((created) => [created.id, created]));
  return (server) => {
    const created = byId.get(server.id);
    if (!created || !isOrderOf(created, server, held?.generation)) return undefined;
    return { created, price: findKnownPrice(created, catalog) };
  };
}
