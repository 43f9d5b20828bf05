import { LRUCache } from 'lru-cache';
import { type UseCaseContext as Context, defineUseCase } from '../core/entry.ts';
import { type HostingError, isExpected, isRefusal, Refusal } from '../core/errors.ts';
import type { ServerId, WorkspaceId } from '../core/ids.ts';
import { coversAllServers, lookUpRoles } from '../core/permission.ts';
import { withTimeout } from '../core/promises.ts';
import { coversRole, type HeldRoles, type Role, strongestRole } from '../core/roles.ts';
import { colorOf, isDeleted, type ListExtent, type Server, type ServerList } from '../core/server.ts';
import type { PurchaseFreeze } from '../core/settings.ts';
import { DAY_MS, localDay } from '../core/time.ts';
import type { HostingApi } from '../hosting/hosting-api.ts';
import { type Costs, costsOf, type PaidThisMonth, readPaid } from '../purchases/costs.ts';
import { labelOf, type Operation } from '../purchases/operation.ts';
import { listDue, readReminderSettings } from '../reminders/digest-content.ts';
import { withGuest } from '../requests/notify.ts';
import {
  ALL_KINDS,
  type Approval,
  labelOfAction,
  type Request,
  type RoleRequest,
} from '../requests/request.ts';
import { listRecentIds, sortRecentFirst } from '../servers/find.ts';
import { pageOf } from '../slack/kit/button.ts';

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
    const orders = await app.ledger.listOpen(actor.workspaceId);
    const open = orders.filter(({ purchase }) => coversRole(roles, 'viewer', labelOf(purchase)));
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
    ...(await readRequests([], context)),
    needsInstall: false,
  };
}

/** Reads what needs no hosting API. */
async function readRest(roles: HeldRoles, context: Context) {
  const { actor, app } = context;
  const isOwner = coversRole(roles, 'owner');
  const [unsaved, requests, { freeze }, needsInstall] = await Promise.all([
    listUnsaved(context),
    readRequests(roles, context),
    app.workspaces.readSettings(actor.workspaceId),
    isOwner && app.installations.needsInstall?.(actor.workspaceId),
  ]);
  return { unsaved, ...requests, needsInstall: needsInstall === true, freeze };
}

async function listUnsaved({ actor, app }: Context): Promise<Home['unsaved']> {
  const held = await app.passwords.listHeld(actor.workspaceId);
  const mine = held.filter(({ creatorId }) => creatorId === actor.userId);
  return mine.map(({ serverId: id, label }) => ({ id, label }));
}

/** Reads the pending requests: the actor's own, and those of others that these roles let them decide. */
async function readRequests(roles: HeldRoles, { actor, app }: Context) {
  const open = await app.requests.listOpen(actor.workspaceId, ALL_KINDS, app.system.now());
  const approvals = open.filter((request) => request.kind !== 'role');
  const access = open.filter((request) => request.kind === 'role');
  const isOwn = ({ requesterId }: Request) => requesterId === actor.userId;
  const mayDecide = (request: Request) =>
    !isOwn(request) &&
    (request.kind === 'role'
      ? coversRole(roles, 'owner')
      : coversRole(roles, 'manager', labelOfAction(request)));
  const asked = access.filter(mayDecide).map((request) => withGuest(request, app.users));
  return {
    decisions: { approvals: approvals.filter(mayDecide), access: await Promise.all(asked) },
    own: { approvals: approvals.filter(isOwn), access: access.filter(isOwn) },
  };
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

export interface HomeServer {
  readonly server: Server;
  /** The actor's role for it; the row has only buttons that the role covers. */
  readonly role: Role | undefined;
  /** Its paid time has ended or ends soon, and nobody has snoozed it or chosen to let it expire. */
  readonly isExpiring: boolean;
  /** It needs attention, as `ListedServers.urgent` counts. */
  readonly isUrgent: boolean;
  readonly isProtected: boolean;
}

type HomeServers =
  /** `role_unknown`: Slack hasn't confirmed a role that the user may have. */
  | { readonly kind: 'no_role' | 'role_unknown' }
  | { readonly kind: 'not_connected'; readonly error: Refusal<'no_api_key'> }
  /** No list is known; without an error, one is being read. */
  | { readonly kind: 'unread'; readonly error?: HostingError | Refusal }
  | ListedServers;

/** One page of the servers that the actor may see. */
export interface ListedServers {
  readonly kind: 'listed';
  /** One page, the most urgent first. */
  readonly shown: readonly HomeServer[];
  /** Servers on all pages. */
  readonly total: number;
  /** From 0. */
  readonly page: number;
  readonly pages: number;
  /** How many need attention: the paid time has ended or ends soon, the state is unsettled, or an order is unconfirmed. */
  readonly urgent: number;
  /** When the list was read, in epoch milliseconds. */
  readonly readAt: number;
  readonly extent: ListExtent;
  /** The actor's role is for some servers only; others are left out. */
  readonly isLimited: boolean;
  /** Why there is no newer list; `reading`: one is being read. Absent if this list is current. */
  readonly stale?: HostingError | Refusal | 'reading';
}

/** Each takes up to two of the 100 blocks of a view. */
const SERVERS_PER_PAGE = 12;
/** Few enough to read on a phone. */
const SERVERS_IN_PANEL = 5;

/** How long Home waits for the list before it shows the last known one. */
const PATIENCE_MS = 1000;

/** A list of servers, or why there is none yet. */
type Reading =
  | { readonly kind: 'read'; readonly last: LastServers; readonly stale?: ListedServers['stale'] }
  | Exclude<HomeServers, ListedServers>;

export interface WantedList {
  /** Wait for the hosting API, rather than return the last known list after a second. */
  readonly isPatient?: boolean;
  /** Read the list again, rather than reuse one of the last half minute. */
  readonly isFresh?: boolean;
}

/** Reads the account's list, or returns the one that this process read last. Never throws an expected error. */
async function readList(
  { isPatient = false, isFresh = false }: WantedList,
  context: Context,
): Promise<Reading> {
  const { actor, app } = context;
  let known: LastServers | undefined;
  try {
    const hosting = await context.hosting();
    const [account] = hosting.account;
    known = app.lastLists.find(actor.workspaceId, account);
    const reading = fetchList(hosting, isFresh).then((list) =>
      app.lastLists.put(actor.workspaceId, account, { list, at: app.system.now() }),
    );
    const last = isPatient ? await reading : await withTimeout(reading, app.system, PATIENCE_MS);
    if (last) return { kind: 'read', last };
    return known ? { kind: 'read', last: known, stale: 'reading' } : { kind: 'unread' };
  } catch (error) {
    if (isRefusal(error, 'no_api_key')) return { kind: 'not_connected', error };
    if (!isExpected(error)) throw error;
    return known ? { kind: 'read', last: known, stale: error } : { kind: 'unread', error };
  }
}

async function fetchList(hosting: HostingApi, isFresh: boolean): Promise<ServerList> {
  const list = await hosting.fetchServers({ freshness: isFresh ? 'fresh' : 'recent' });
  // If the account was empty half a minute ago, it is probably just being set up.
  const isDoubtful = !isFresh && list.servers.length === 0;
  return isDoubtful ? hosting.fetchServers({ freshness: 'shared' }) : list;
}

/** Makes one page of the servers that the actor may see, the most urgent first. An impossible page is the nearest one. */
async function showServers(
  { last, stale }: Extract<Reading, { kind: 'read' }>,
  { page: wantedPage, isPanel }: { readonly page: number; readonly isPanel: boolean },
  roles: HeldRoles,
  open: readonly Operation[],
  context: Context,
): Promise<ListedServers> {
  const { list, at: readAt } = last;
  const expiring = await findExpiring(list, context);
  const recent = isPanel ? await listRecentIds(context) : [];
  const renewing = open.flatMap(({ purchase }) => (purchase.kind === 'renew' ? [purchase.serverId] : []));
  const ordered = orderServers(list, roles, expiring, renewing, recent);
  const perPage = isPanel ? SERVERS_IN_PANEL : SERVERS_PER_PAGE;
  const { page, pages, shown: listed } = pageOf(ordered.servers, wantedPage, perPage);
  const { app, actor } = context;
  const protections = await app.serverNotes.list('protection', actor.workspaceId);
  const shown = listed.map((server) => ({
    server,
    role: strongestRole(roles, server.label),
    isExpiring: expiring.has(server.id),
    isUrgent: ordered.isUrgent(server),
    isProtected: protections.some(({ serverId }) => serverId === server.id),
  }));
  const counts = { total: ordered.servers.length, urgent: ordered.urgent };
  const isLimited = !coversAllServers(roles, 'viewer');
  return { kind: 'listed', shown, page, pages, ...counts, readAt, extent: list.extent, isLimited, stale };
}

/** Finds the servers whose paid time has ended or ends soon, without those that were snoozed or left to expire. */
async function findExpiring({ servers }: ServerList, context: Context): Promise<Set<ServerId>> {
  const { actor, app } = context;
  const digest = await readReminderSettings(context);
  const now = app.system.now();
  const marks = await app.serverNotes.list('reminder', actor.workspaceId);
  // Days of a time zone are slow to count, and there may be thousands of servers.
  const untilMs = now + ((digest.daysBefore[0] ?? 0) + 2) * DAY_MS;
  const soon = servers.filter(({ paidUntil = untilMs }) => paidUntil < untilMs);
  const due = listDue(soon, localDay(now, digest.zone), digest, marks);
  return new Set(due.filter(({ mark }) => !mark).map(({ server }) => server.id));
}

/** Sorts servers: expiring, then unsettled, then with an unconfirmed renewal, then the recent ones (latest first) and the rest. */
function orderServers(
  { servers: all }: ServerList,
  roles: HeldRoles,
  expiring: ReadonlySet<ServerId>,
  unconfirmed: readonly ServerId[],
  recent: readonly ServerId[],
) {
  const rankOf = (server: Server) => {
    if (expiring.has(server.id)) return 0;
    if (['yellow', 'red'].includes(colorOf(server))) return 1;
    return unconfirmed.includes(server.id) ? 2 : CALM;
  };
  const seen = all.filter((server) => !isDeleted(server) && coversRole(roles, 'viewer', server.label));
  const ranks = new Map(seen.map((server) => [server.id, rankOf(server)]));
  const rank = ({ id }: Server) => ranks.get(id) ?? CALM;
  const sooner = (a: Server, b: Server) => (rank(a) === 0 ? (a.paidUntil ?? 0) - (b.paidUntil ?? 0) : 0);
  const servers = sortRecentFirst(seen, recent).toSorted((a, b) => rank(a) - rank(b) || sooner(a, b));
  const isUrgent = (server: Server) => rank(server) < CALM;
  return { servers, urgent: servers.filter(isUrgent).length, isUrgent };
}

const CALM = 3;

interface LastServers {
  readonly list: ServerList;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Workspaces whose list is kept, those that were read last: a list may have thousands of servers. */
const MOST_WORKSPACES = 50;

export type LastLists = ReturnType<typeof createLastLists>;

/** The lists that Home shows while the hosting API doesn't answer. In memory only: empty after a start. */
export function createLastLists() {
  const lists = new LRUCache<WorkspaceId, LastServers & { readonly account: string }>({
    max: MOST_WORKSPACES,
  });
  /** The last list, if it was read with that key: another key may open another account. */
  const find = (workspaceId: WorkspaceId, account: string): LastServers | undefined => {
    const last = lists.get(workspaceId);
    return last?.account === account ? last : undefined;
  };
  return {
    find,
    /** Keeps a list, and returns it. The same list again keeps its earlier time. */
    put: (workspaceId: WorkspaceId, account: string, given: LastServers): LastServers => {
      const known = find(workspaceId, account);
      const last = known?.list === given.list ? known : given;
      lists.set(workspaceId, { ...last, account });
      return last;
    },
  };
}
