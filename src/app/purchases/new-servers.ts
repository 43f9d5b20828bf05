import { omitUndefined } from '../../domain/omit-undefined.ts';
import type { Operation } from '../../domain/operation.ts';
import { isDeleted, type Server } from '../../domain/server.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { System } from '../../system.ts';
import { getHostingOf } from '../account/confirmed-account.ts';
import type { NewServer, NewServers, OperationNotifier } from './notifier-port.ts';
import type { AccountPorts } from './payment-ports.ts';
import type { RoleCheck } from './take-due-operation.ts';

const FIRST_LOOK_MS = 2000;
const LONGEST_WAIT_MS = MINUTE_MS;
const GIVE_UP_MS = 30 * MINUTE_MS;

/** Remembers new servers until the API lists their address: the answer to an order has none. */
export function createNewServers(system: Pick<System, 'elapsed'>): NewServers {
  const due = new Map<NewServer, number>();
  return {
    add: (operation) => {
      due.set({ operation, since: system.elapsed() }, system.elapsed() + FIRST_LOOK_MS);
    },
    takeDue: () => {
      const now = system.elapsed();
      const taken = [...due].filter(([, at]) => at <= now).map(([server]) => server);
      for (const server of taken) due.delete(server);
      return taken;
    },
    putBack: (server) => {
      const passed = system.elapsed() - server.since;
      if (passed > GIVE_UP_MS) return;
      const wait = Math.min(Math.max(passed / 2, FIRST_LOOK_MS), LONGEST_WAIT_MS);
      due.set(server, system.elapsed() + wait);
    },
  };
}

/** The creator may have lost their role since. */
function maySee(
  { workspaceId, actorId: userId, channelId }: Operation,
  { label }: Server,
  roles: RoleCheck,
): Promise<boolean> {
  return roles.hasRole({ workspaceId, userId, ...omitUndefined({ channelId }) }, 'viewer', label);
}

/** What it takes to look for the addresses of new servers. */
export interface AddressPorts extends AccountPorts {
  readonly newServers: NewServers;
  readonly operationNotifier: Pick<OperationNotifier, 'notifyAddress'>;
}

/** Looks once for a new server's address, and tells its creator when the API lists one. Never throws. */
export async function lookForAddress(
  server: NewServer,
  ports: AddressPorts,
  roles: RoleCheck,
): Promise<void> {
  const { operation } = server;
  try {
    const hosting = await getHostingOf(operation, ports);
    const servers = await hosting.listServers({ urgency: 'background' });
    const found = servers.find(({ id }) => id === operation.serverId);
    if (found && isDeleted(found)) return;
    if (!found?.ipv4) ports.newServers.putBack(server);
    else if (await maySee(operation, found, roles))
      await ports.operationNotifier.notifyAddress(operation, found);
  } catch {
    // The API doesn't answer, or another account is connected: worth another look, and no more than that.
    ports.newServers.putBack(server);
  }
}
