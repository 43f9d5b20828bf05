import { Refusal } from '../../domain/errors.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { isDeleted, type ServerList } from '../../domain/server.ts';
import type { AppContext } from '../ports.ts';
import type { Snapshot } from './ports.ts';

/** The account of a workspace as one read of its list showed it. */
export interface SeenAccount {
  readonly account: string;
  readonly keyGeneration: number;
  readonly list: ServerList;
  readonly at: number;
}

/**
 * Reads the list once, as background work, so that users come first.
 * @throws Refusal `no_api_key`, `key_unreadable`; HostingError
 */
export async function readAccount(
  workspaceId: WorkspaceId,
  { apiKeys, hostingOf, system }: AppContext,
): Promise<SeenAccount> {
  const held = await apiKeys.find(workspaceId);
  if (!held) throw new Refusal('no_api_key', {});
  const hosting = hostingOf(held.key, workspaceId);
  const list = await hosting.fetchServers({ urgency: 'background' });
  return { account: hosting.account, keyGeneration: held.generation, list, at: system.now() };
}

/** What the next digest compares with; undefined where the list was incomplete. */
export function toSnapshot({ account, list, at }: SeenAccount): Snapshot | undefined {
  if (list.extent !== 'whole') return undefined;
  const servers = list.servers
    .filter((server) => !isDeleted(server))
    .map(({ id, label, state, paidUntil }) => ({
      id,
      label,
      state,
      ...(paidUntil !== undefined && { paidUntil }),
    }));
  return { account, at, servers };
}
