import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { isExpected, Refusal } from '../core/errors.ts';
import type { UserId } from '../core/ids.ts';
import { withTimeout } from '../core/locks.ts';
import { coversAllServers, lookUpRoles } from '../core/permission.ts';
import { coversRole, type HeldRoles, type Role, strongestRole } from '../core/roles.ts';
import type { PurchaseFreeze } from '../core/settings.ts';
import { type Costs, costsOf, type PaidThisMonth, readPaid } from '../purchases/costs.ts';
import { labelOf, type Operation } from '../purchases/operation.ts';
import { listDecidable } from '../requests/approval.ts';
import { withGuest } from '../requests/notify.ts';
import {
  APPROVALS,
  type Approval,
  type Request,
  ROLES_ASKED,
  type RoleRequest,
} from '../requests/request.ts';
import { type HomeServers, type Reading, readList, showServers, type WantedList } from './home-servers.ts';

type Context = UseCaseContext;

/** Everything that one user sees on Home, and nothing that their roles don't cover. */
export interface Home {
  /** The actor's highest role; absent for none. */
  readonly role?: Role;
  readonly servers: HomeServers;
  /** Confirmed orders without an outcome yet, for servers that the actor may see. */
  readonly open: readonly Operation[];
  /** Servers whose root password the actor has not saved. */
  readonly unsaved: readonly { readonly id: number; readonly label: string }[];
  /** What the actor may decide, oldest first. */
  readonly decisions: Requests;
  /** The actor's own requests that are still pending. */
  readonly own: Requests;
  /** Payments of this month; with the costs of the servers, if list and catalog could be read. */
  readonly spending?: { readonly paid: PaidThisMonth; readonly costs?: Costs };
  /** Set while nothing can be bought or renewed. */
  readonly freeze?: PurchaseFreeze;
  /** Slack won't renew the app's token; set only for owners. */
  readonly needsInstall: boolean;
}

interface Requests {
  readonly approvals: readonly Approval[];
  readonly access: readonly RoleRequest[];
}

const NO_REQUESTS: Requests = { approvals: [], access: [] };

interface Input extends WantedList {
  /** Page of servers, from 0. */
  readonly page: number;
  /** For the control panel: few servers, those that the user acted on lately first, and without spending. */
  readonly isPanel?: boolean;
}

/**
 * Reads what Home and the control panel show. Everyone of the workspace gets one, limited to what their roles cover.
 * @throws Refusal `other_organization` for users of other organizations
 */
export const readHome = defineUseCase({
  name: 'panel',
  needs: 'anyone',
  effect: 'reads',
  run: async ({ page, isPanel = false, ...wanted }: Input, context): Promise<Home> => {
    const { actor, app } = context;
    const user = await app.users.find(actor.workspaceId, actor.userId);
    if (user?.isStranger) throw new Refusal('other_organization', {});
    const { held, possible } = await lookUpRoles(actor, app);
    if (!coversRole(held, 'viewer')) return readBareHome(possible.length > 0, context);
    const reading = await readList(wanted, context);
    // The hosting API may have taken half a minute, so the roles are looked up again.
    const { held: roles, possible: unknown } = await lookUpRoles(actor, app);
    if (!coversRole(roles, 'viewer')) return readBareHome(unknown.length > 0, context);
    const open = await listOpen(roles, context);
    const [servers, spending, rest] = await Promise.all([
      reading.kind === 'read' ? showServers(reading, { page, isPanel }, roles, open, context) : reading,
      isPanel ? undefined : readSpending(reading, roles, wanted.isPatient === true, context),
      readRest(roles, context),
    ]);
    return { servers, open, ...rest, role: strongestRole(roles), spending };
  },
});

/** Reads Home for a user without a role: only what is their own. */
async function readBareHome(isUnknown: boolean, context: Context): Promise<Home> {
  return {
    servers: { kind: isUnknown ? 'role_unknown' : 'no_role' },
    open: [],
    unsaved: await listUnsaved(context),
    decisions: NO_REQUESTS,
    own: await listOwn(context),
    needsInstall: false,
  };
}

async function listOpen(roles: HeldRoles, { actor, app }: Context): Promise<readonly Operation[]> {
  const open = await app.ledger.listOpen(actor.workspaceId);
  return open.filter(({ purchase }) => coversRole(roles, 'viewer', labelOf(purchase)));
}

/** Reads what needs no hosting API. */
async function readRest(roles: HeldRoles, context: Context) {
  const { actor, app } = context;
  const isOwner = coversRole(roles, 'owner');
  const [unsaved, approvals, access, own, workspace, needsInstall] = await Promise.all([
    listUnsaved(context),
    listDecidable(roles, context),
    isOwner ? listAsked(context) : [],
    listOwn(context),
    app.workspaces.find(actor.workspaceId),
    isOwner && app.installations.needsInstall?.(actor.workspaceId),
  ]);
  return {
    unsaved,
    decisions: { approvals, access },
    own,
    needsInstall: needsInstall === true,
    freeze: workspace?.settings.freeze,
  };
}

async function listAsked(context: Context): Promise<readonly RoleRequest[]> {
  const { actor, app } = context;
  const asked = await listPending(ROLES_ASKED, (requesterId) => requesterId !== actor.userId, context);
  return Promise.all(asked.map((request) => withGuest(request, app.users)));
}

async function listUnsaved({ actor, app }: Context): Promise<Home['unsaved']> {
  const held = await app.passwords.listHeld(actor.workspaceId);
  const mine = held.filter(({ creatorId }) => creatorId === actor.userId);
  return mine.map(({ serverId: id, label }) => ({ id, label }));
}

async function listOwn(context: Context): Promise<Requests> {
  const isOwn = (requesterId: UserId) => requesterId === context.actor.userId;
  return {
    approvals: await listPending(APPROVALS, isOwn, context),
    access: await listPending(ROLES_ASKED, isOwn, context),
  };
}

async function listPending<Kind extends Request['kind']>(
  kinds: readonly Kind[],
  isWanted: (requesterId: UserId) => boolean,
  { actor, app }: Context,
) {
  const open = await app.requests.listOpen(actor.workspaceId, kinds);
  const now = app.system.now();
  return open.filter(({ requesterId, expiresAt }) => isWanted(requesterId) && expiresAt > now);
}

/** Reads payments from the ledger, and costs if the list and the catalog could be read. */
async function readSpending(
  reading: Reading,
  roles: HeldRoles,
  isPatient: boolean,
  context: Context,
): Promise<Home['spending']> {
  const covers = (label: string) => coversRole(roles, 'viewer', label);
  const paid = await readPaid(covers, context);
  // An old list without servers proves nothing: there may be some by now.
  if (reading.kind !== 'read' || (reading.stale && reading.last.list.servers.length === 0)) return { paid };
  const catalog = await readCatalog(isPatient, context);
  if (!catalog) return { paid };
  const isLimited = !coversAllServers(roles, 'viewer');
  const costs = await costsOf({ list: reading.last.list, catalog, paid, covers, isLimited }, context);
  return { paid, costs };
}

const CATALOG_PATIENCE_MS = 300;

/** Reads the catalog; undefined if it is slow or can't be read. */
async function readCatalog(isPatient: boolean, context: Context) {
  try {
    const reading = (await context.hosting()).fetchCatalog();
    return await (isPatient ? reading : withTimeout(reading, context.app.system, CATALOG_PATIENCE_MS));
  } catch (error) {
    if (isExpected(error)) return undefined;
    throw error;
  }
}
