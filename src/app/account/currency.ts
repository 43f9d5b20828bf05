import type { WorkspaceId } from '../../domain/ids.ts';
import type { Workspaces } from './ports.ts';

/** What the amounts of a workspace are in; empty where that is not known. */
export type CurrencyOf = (workspaceId: WorkspaceId) => Promise<string>;

/** The workspace's own currency, or else the operator's. An amount without a currency is true even if neither can be read. */
export function createCurrencyOf(workspaces: Pick<Workspaces, 'find'>, operators: string): CurrencyOf {
  return (workspaceId) =>
    workspaces.find(workspaceId).then(
      (workspace) => workspace?.settings.currency ?? operators,
      () => '',
    );
}
