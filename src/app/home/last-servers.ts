import type { WorkspaceId } from '../../domain/ids.ts';
import type { ServerList } from '../../domain/server.ts';

/** The servers of a workspace as this process has read them last. */
export interface LastServers {
  readonly list: ServerList;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A list that is still being read with the API key of that generation. */
export interface ComingServers {
  readonly keyGeneration: number;
  readonly last: Promise<LastServers>;
}

/** What Home shows while the hosting API doesn't answer. Only in memory: after a start, it begins empty. */
export interface LastLists {
  /** Undefined if none was read with the key of that generation: another key may be another account's. */
  find(workspaceId: WorkspaceId, keyGeneration: number): LastServers | undefined;
  /** The same list again keeps the time at which it was read. */
  put(workspaceId: WorkspaceId, keyGeneration: number, last: LastServers): LastServers;
}

/** A list may have thousands of servers, so only those of the workspaces that were read last are kept. */
const MOST_WORKSPACES = 50;

export function createLastLists(): LastLists {
  const lists = new Map<WorkspaceId, LastServers & { readonly keyGeneration: number }>();
  const find: LastLists['find'] = (workspaceId, keyGeneration) => {
    const last = lists.get(workspaceId);
    return last?.keyGeneration === keyGeneration ? last : undefined;
  };
  return {
    find,
    put: (workspaceId, keyGeneration, given) => {
      const known = find(workspaceId, keyGeneration);
      const last = known?.list === given.list ? known : { ...given, keyGeneration };
      lists.delete(workspaceId);
      lists.set(workspaceId, { ...last, keyGeneration });
      const [oldest] = lists.keys();
      if (lists.size > MOST_WORKSPACES && oldest !== undefined) lists.delete(oldest);
      return last;
    },
  };
}
