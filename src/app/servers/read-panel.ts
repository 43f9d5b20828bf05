import { coversRole, type HeldRoles, strongestRole } from '../../domain/access.ts';
import type { Role } from '../../domain/actor.ts';
import { type HostingError, isExpected, isRefusal, type Refusal } from '../../domain/errors.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import { isDeleted, type ListExtent, type Server } from '../../domain/server.ts';
import { colorOf } from '../../domain/server-state.ts';
import { WEEK_MS } from '../../domain/time.ts';
import { listDecidable } from '../approvals/list-decidable.ts';
import { findRoles } from '../authorize/find-roles.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import { listRecentIds, sortRecentFirst } from './recent-servers.ts';

type Context = UseCaseContext;

/** What a user finds first: the servers that matter to them now, and what waits for them. */
export interface Panel {
  /** The actor's highest role; absent for none. */
  readonly role?: Role;
  readonly servers: PanelServers;
  /** Confirmed orders for servers that the actor may see, whose outcome is not known yet. */
  readonly open: readonly Operation[];
  /** Servers whose root password the actor has not saved. */
  readonly unsaved: readonly { readonly id: number; readonly label: string }[];
  /** Requests that the actor may approve or deny. */
  readonly approvals: number;
}

export type PanelServers =
  | { readonly kind: 'no_role' }
  /** No API key is connected yet. */
  | { readonly kind: 'not_connected' }
  | { readonly kind: 'failed'; readonly error: HostingError | Refusal }
  /** The most important ones first, of so many; each with the role that the actor has for it. */
  | {
      readonly kind: 'listed';
      readonly shown: readonly PanelServer[];
      readonly total: number;
      readonly extent: ListExtent;
    };

export interface PanelServer {
  readonly server: Server;
  readonly role: Role | undefined;
  readonly isExpiring: boolean;
}

/** A handful: the panel is read on a phone. */
const SHOWN = 5;

/** Reads the control panel. Everyone gets one, and sees only what their roles cover. */
export const readPanel = defineUseCase({
  name: 'panel',
  needs: 'anyone',
  effect: 'reads',
  run: async (_input: Record<never, never>, context): Promise<Panel> => {
    const { actor, app } = context;
    const roles = await findRoles(actor, app);
    const [servers, open, held, approvals] = await Promise.all([
      readServers(roles, context),
      app.ledger.listOpen(actor.workspaceId),
      app.passwords.listHeld(actor.workspaceId),
      listDecidable(roles, context),
    ]);
    const mine = held.filter(({ creatorId }) => creatorId === actor.userId);
    return {
      servers,
      open: open.filter(({ purchase }) => coversRole(roles, 'viewer', labelOf(purchase))),
      unsaved: mine.map(({ serverId: id, label }) => ({ id, label })),
      approvals: approvals.length,
      role: strongestRole(roles),
    };
  },
});

async function readServers(roles: HeldRoles, context: Context): Promise<PanelServers> {
  if (!coversRole(roles, 'viewer')) return { kind: 'no_role' };
  try {
    const hosting = await context.hosting();
    const [list, recent] = await Promise.all([hosting.fetchServers(), listRecentIds(context)]);
    const servers = list.servers.filter(
      (server) => coversRole(roles, 'viewer', server.label) && !isDeleted(server),
    );
    const now = context.app.system.now();
    const sorted = sortRecentFirst(servers, recent).map((server) => ({ server, ...judge(server, now) }));
    sorted.sort((a, b) => a.rank - b.rank);
    const shown = sorted.slice(0, SHOWN).map(({ server, isExpiring }) => ({
      server,
      isExpiring,
      role: (['owner', 'manager', 'operator', 'viewer'] as const).find((role) =>
        coversRole(roles, role, server.label),
      ),
    }));
    return { kind: 'listed', shown, total: servers.length, extent: list.extent };
  } catch (error) {
    if (isRefusal(error, 'no_api_key')) return { kind: 'not_connected' };
    if (isExpected(error)) return { kind: 'failed', error };
    throw error;
  }
}

/** Servers that have failed or are changing state come first, then those whose paid time ends soon, then the others in their order. */
function judge(server: Server, now: number): { readonly rank: number; readonly isExpiring: boolean } {
  const color = colorOf(server);
  const isExpiring = server.paidUntil !== undefined && server.paidUntil - now < WEEK_MS;
  const isUnsettled = color === 'yellow' || color === 'red';
  return { rank: isUnsettled ? 0 : isExpiring ? 1 : 2, isExpiring };
}
