import type { StoredEntry } from '../../domain/audit-entry.ts';
import { type Drift, NO_DRIFT } from '../../domain/digest.ts';
import type { ServerId, WorkspaceId } from '../../domain/ids.ts';
import { isSameLabel } from '../../domain/label.ts';
import { labelOf } from '../../domain/operation.ts';
import { isDeleted, type Server } from '../../domain/server.ts';
import { colorOf } from '../../domain/server-state.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { AppContext } from '../ports.ts';
import type { Snapshot } from './ports.ts';
import type { SeenAccount } from './seen-account.ts';

/** An action may take this long until the server shows its effect, so what was done shortly before counts as well. */
const EFFECT_MS = 15 * MINUTE_MS;
const ACTIONS = ['start', 'stop', 'reboot', 'delete'] as const;

/**
 * What has happened to the servers since the snapshot that neither the ledger nor the audit of this workspace explains.
 * Nothing is concluded from an incomplete list, or from the list of another account. A server whose paid time has ended
 * is not drift: it is reported as expired.
 */
export async function findDrift(
  workspaceId: WorkspaceId,
  before: Snapshot | undefined,
  { account, list, at }: SeenAccount,
  app: AppContext,
): Promise<Drift> {
  if (!before || list.extent !== 'whole' || before.account !== account) return NO_DRIFT;
  const was = new Map(before.servers.map((server) => [server.id, server]));
  const is = new Map(
    list.servers.filter((server) => !isDeleted(server)).map((server) => [server.id, server]),
  );
  const acted = await listActed(workspaceId, before.at - EFFECT_MS, app);
  const hasEnded = ({ paidUntil }: Pick<Server, 'paidUntil'>) => paidUntil !== undefined && paidUntil <= at;
  const vanished = [...was.values()].filter(
    (server) => !is.has(server.id) && !acted.deleted.has(server.id) && !hasEnded(server),
  );
  const fresh = [...is.values()].filter(({ id }) => !was.has(id));
  const changed = [...is.values()].flatMap((server) => {
    const earlier = was.get(server.id);
    const isOurs = !earlier || acted.powered.has(server.id) || hasEnded(server);
    if (isOurs || !isChange(earlier.state, server.state)) return [];
    return [{ ...nameOf(server), before: earlier.state, now: server.state }];
  });
  const appeared = await leaveOutOwn(fresh, workspaceId, account, app);
  return { appeared: appeared.map(nameOf), vanished: vanished.map(nameOf), changed };
}

function nameOf({ id, label }: Pick<Server, 'id' | 'label'>) {
  return { serverId: id, label };
}

/** A server that was on its way to another state has only arrived, unless something is wrong with it now. */
function isChange(before: string, now: string): boolean {
  if (before.trim().toLowerCase() === now.trim().toLowerCase()) return false;
  return colorOf({ state: before }) !== 'yellow' || colorOf({ state: now }) === 'red';
}

/** The servers on which users of this workspace acted, other than without success. */
async function listActed(workspaceId: WorkspaceId, since: number, { audit }: AppContext) {
  const last = new Map<string, StoredEntry>();
  // An action whose outcome was never written may have been carried out.
  for await (const entry of audit.read({ workspaceId, actions: ACTIONS, since }))
    if (entry.serverId !== undefined) last.set(entry.actId, entry);
  const happened = [...last.values()].filter(({ outcome }) => outcome !== 'failed' && outcome !== 'denied');
  const idsOf = (wanted: (action: string) => boolean) =>
    new Set(
      happened.flatMap(({ action, serverId }): ServerId[] =>
        serverId !== undefined && wanted(action) ? [serverId] : [],
      ),
    );
  return {
    deleted: idsOf((action) => action === 'delete'),
    powered: idsOf((action) => action !== 'delete'),
  };
}

/** Leaves out servers that this app created for any workspace of the account, and those that an open order may have created. */
async function leaveOutOwn(
  servers: readonly Server[],
  workspaceId: WorkspaceId,
  account: string,
  { ledger }: AppContext,
): Promise<readonly Server[]> {
  if (servers.length === 0) return [];
  const ids = servers.map(({ id }) => id);
  const own = new Set(await ledger.listSettledIds(account, ids, workspaceId));
  const open = await ledger.listUnresolvedCreates(account, workspaceId);
  return servers.filter(
    ({ id, label }) => !own.has(id) && !open.some(({ purchase }) => isSameLabel(labelOf(purchase), label)),
  );
}
