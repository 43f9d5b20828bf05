import { strongestRole } from '../../domain/access.ts';
import type { Role } from '../../domain/actor.ts';
import type { StoredEntry } from '../../domain/audit-entry.ts';
import type { Order } from '../../domain/catalog.ts';
import type { UserId } from '../../domain/ids.ts';
import { matchesPattern } from '../../domain/label-pattern.ts';
import type { Server } from '../../domain/server.ts';
import { isNoteOf, type ServerNote } from '../../domain/server-note.ts';
import { findRoles } from '../authorize/find-roles.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import type { OnWait } from '../hosting-api.ts';
import { getServer, type ServerRef } from './find-server.ts';
import type { Protection } from './ports.ts';

export interface ServerCard {
  readonly server: Server;
  /** The actor's role for this server: the card has only buttons that it covers. */
  readonly role?: Role;
  readonly protection?: Protection;
  readonly note?: ServerNote;
  /** How it was ordered, if with this app. */
  readonly created?: { readonly by: UserId; readonly at: number; readonly order: Order };
  /** What was done to it last with this app, as far as that has ended. */
  readonly last?: Pick<StoredEntry, 'at' | 'actorId' | 'action' | 'outcome' | 'code'>;
}

/** Shows one server with what is known of it in this app. */
export const showServer = defineUseCase({
  name: 'show',
  needs: 'viewer',
  effect: 'reads',
  run: async (
    { ref, onWait, isFresh }: { ref: ServerRef; onWait?: OnWait | undefined; isFresh?: boolean },
    context,
  ): Promise<ServerCard> => {
    const freshness = isFresh ? ('fresh' as const) : undefined;
    const server = await getServer(ref, context, { onWait, freshness });
    const { actor, app } = context;
    const { workspaceId } = actor;
    const [role, protection, noted, made, last] = await Promise.all([
      findRoleFor(server.label, context),
      app.protections.find(workspaceId, server.id),
      app.serverNotes.find(workspaceId, server.id),
      app.ledger.findCreateOf(workspaceId, server.id),
      findLast(server, context),
    ]);
    const created = made?.purchase.kind === 'create' && {
      by: made.actorId,
      at: made.createdAt,
      order: made.purchase.order,
    };
    const note = noted && isNoteOf(noted, server) ? noted : undefined;
    return { server, role, protection, note, created: created || undefined, last };
  },
});

async function findRoleFor(label: string, { actor, app }: UseCaseContext): Promise<Role | undefined> {
  const roles = await findRoles(actor, app);
  return strongestRole(roles.filter(({ pattern }) => matchesPattern(pattern, label)));
}

/** What a card shows; who viewed what is only in the audit, for owners. */
const TOLD = ['create', 'renew', 'start', 'stop', 'reboot', 'delete', 'protect', 'unprotect'];
/** What was only asked about first, or refused, did nothing to the server. */
const DID_NOTHING = [
  'prefix_only',
  'rebooted_recently',
  'server_protected',
  'label_differs',
  'already_handled',
];

async function findLast({ id: serverId }: Server, { actor, app }: UseCaseContext) {
  const entries = await app.audit.list({ workspaceId: actor.workspaceId, serverId, limit: 20 });
  return entries.find(
    ({ action, outcome, code = '' }) =>
      TOLD.includes(action) && !['started', 'denied'].includes(outcome) && !DID_NOTHING.includes(code),
  );
}
