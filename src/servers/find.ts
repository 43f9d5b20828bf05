import type { AuditSubject } from '../core/audit-entry.ts';
import { defineUseCase, type UseCase, type UseCaseContext } from '../core/entry.ts';
import { type FailedAct, HostingError, Refusal, type RefusalDetails } from '../core/errors.ts';
import { indexServers, matchServer, type ServerIndex, searchServers } from '../core/find-server.ts';
import type { ServerId } from '../core/ids.ts';
import { isIdenticalLabel } from '../core/labels.ts';
import type { Role } from '../core/roles.ts';
import { compareServers, isDeleted, type Server, type ServerList } from '../core/server.ts';
import type { CallOptions } from '../hosting/hosting-api.ts';
import { findMentionedServers, type MentionedServer, type MessagePart } from './mentioned.ts';

/**
 * How a server is referred to: as it was typed, or by the ID that a button or a picker carries; with the label that the user
 * has read there (`freezeBriefly`), if it must still be that one.
 */
export type ServerRef = { readonly typed: string } | { readonly id: ServerId; readonly label?: string };

/** For callers that can't be asked which server they meant: the exact label, character by character. */
export interface ExactRef {
  readonly exactly: string;
}

/** The subject of an action in the audit before the server was looked up. */
export function subjectOf(ref: ServerRef | ExactRef): AuditSubject {
  if ('exactly' in ref) return { label: ref.exactly };
  return 'id' in ref ? { serverId: ref.id } : { label: ref.typed };
}

type Matching = Pick<UseCaseContext, 'actor' | 'app' | 'covers'>;
type Finding = Matching & Pick<UseCaseContext, 'hosting' | 'requireRoleFor' | 'setSubject'>;

/**
 * Finds the one server that was meant, and names it in the audit.
 * @throws Refusal `unknown_server` (with the nearest labels), `ambiguous_server` (with the matches; nothing is done),
 * `role_needed` when the actor's role is for other servers
 */
export async function getServer(
  ref: ServerRef | ExactRef,
  context: Finding,
  options?: CallOptions,
): Promise<Server> {
  if ('exactly' in ref) return getExactServer(ref.exactly, context, options);
  const hosting = await context.hosting();
  const list = await hosting.fetchServers(options);
  const server = 'id' in ref ? getServerById(ref, list) : await getNamedServer(ref.typed, list, context);
  context.setSubject({ serverId: server.id, label: server.label });
  await context.requireRoleFor(server.label, 'id' in ref ? String(ref.id) : ref.typed);
  return server;
}

/**
 * Whether the actor may act on a server of that label is checked first: the answer does not tell which labels there are.
 * @throws Refusal `role_needed`, `unknown_server` without suggestions, `ambiguous_server`, `list_incomplete`
 */
async function getExactServer(label: string, context: Finding, options?: CallOptions): Promise<Server> {
  await context.requireRoleFor(label);
  const hosting = await context.hosting();
  const { servers, extent } = await hosting.fetchServers(options);
  const matches = servers.filter((each) => isIdenticalLabel(each.label, label));
  const [server] = matches;
  // In an incomplete list, the server may only be missing, and the caller can't look at the list.
  if (!server && extent !== 'whole') throw new Refusal('list_incomplete', {});
  if (!server) throw new Refusal('unknown_server', { typed: label });
  if (matches.length > 1) throw new Refusal('ambiguous_server', { typed: label, servers: matches });
  context.setSubject({ serverId: server.id, label: server.label });
  return server;
}

/** @throws Refusal `unknown_server` */
function getServerById(
  { id, label = String(id) }: { readonly id: ServerId; readonly label?: string },
  list: ServerList,
): Server {
  const server = list.servers.find((each) => each.id === id);
  if (server) return server;
  throw notInList({ typed: label }, list);
}

/**
 * A name means the same server for all users: otherwise a user with a role for a few servers could act on another server
 * than the one they meant. Only the suggestions depend on the user.
 * @throws Refusal `unknown_server`, `ambiguous_server`
 */
export async function getNamedServer(typed: string, list: ServerList, context: Matching): Promise<Server> {
  const { covers, app } = context;
  // A command may name twenty servers: between any two of them, other users' requests go first.
  await app.system.sleep(0);
  const match = matchServer(typed, list.servers, covers);
  if (match.kind === 'found') return match.server;
  if (match.kind === 'ambiguous') {
    const offered = match.servers.filter(({ label }) => covers(label));
    // The user has a role for none of them, so none of them is named.
    if (offered.length === 0) throw notInList({ typed }, list);
    throw new Refusal('ambiguous_server', { typed, servers: await recentFirst(offered, context) });
  }
  // The intended server may be in the rest of the list, so no other one is suggested.
  const nearest = list.extent === 'part' ? [] : match.nearest;
  const [only, ...others] = nearest;
  if (others.length > 0) throw notInList({ typed, near: await recentFirst(nearest, context) }, list);
  throw notInList({ typed, nearest: only?.label, nearestId: only?.id }, list);
}

/** The refusal for a server that isn't in the list; it carries the extent, since only a whole list proves anything. */
export function notInList(
  details: RefusalDetails['unknown_server'],
  { extent }: Pick<ServerList, 'extent'>,
): Refusal<'unknown_server'> {
  return new Refusal('unknown_server', extent === 'whole' ? details : { ...details, extent });
}

async function recentFirst(servers: readonly Server[], context: Matching): Promise<readonly Server[]> {
  return sortRecentFirst(servers, await listRecentIds(context));
}

interface ChoosingInput {
  /** What was typed into a menu that searches, or nothing yet; absent where no menu searches. */
  readonly filter?: string;
}

type Choosing = UseCase<ChoosingInput, readonly Server[]>;

/** What a server is chosen for. */
type ChosenFor = 'show' | 'start' | 'stop' | 'reboot' | 'renew' | 'delete';

/** The servers among which a user chooses when a command names none: recently used first. Each command's own permission. */
export const chooseServer = {
  show: defineChoosing('show', 'viewer'),
  start: defineChoosing('start', 'operator'),
  stop: defineChoosing('stop', 'operator'),
  reboot: defineChoosing('reboot', 'operator'),
  renew: defineChoosing('renew', 'manager'),
  delete: defineChoosing('delete', 'manager'),
} as const satisfies Readonly<Record<ChosenFor, Choosing>>;

function defineChoosing(name: ChosenFor, needs: Role): Choosing {
  return defineUseCase({
    name,
    needs,
    effect: 'reads',
    run: async ({ filter }: ChoosingInput, context) => {
      const { covers } = context;
      const hosting = await context.hosting();
      // While a user types, every letter asks again.
      const freshness = filter === undefined ? 'shared' : 'recent';
      const [{ servers }, recent] = await Promise.all([
        hosting.fetchServers({ freshness }),
        listRecentIds(context),
      ]);
      const isOffered = (server: Server) => covers(server.label) && !isDeleted(server);
      return putRecentFirst(searchServers(filter ?? '', indexOf(servers), isOffered), recent);
    },
  });
}

/** One list is searched many times: it is kept in memory as long as the list itself. */
const indexes = new WeakMap<readonly Server[], ServerIndex>();

function indexOf(servers: readonly Server[]): ServerIndex {
  const known = indexes.get(servers);
  if (known) return known;
  const index = indexServers(servers);
  indexes.set(servers, index);
  return index;
}

/** How far back the audit is read: a user's last servers are among their last acts. */
const LOOK_BACK = 200;

type Reading = Pick<UseCaseContext, 'actor' | 'app'>;

/** The servers that the actor did something to with this app, the latest first. */
export async function listRecentIds({ actor, app }: Reading): Promise<readonly ServerId[]> {
  const { workspaceId, userId: actorId } = actor;
  const entries = await app.audit.list({ workspaceId, actorId, limit: LOOK_BACK });
  const used = entries.filter(({ outcome }) => outcome !== 'denied');
  return [...new Set(used.flatMap(({ serverId }) => (serverId === undefined ? [] : [serverId])))];
}

/** Sorts servers for a menu: recently used first, the others by label. */
export function sortRecentFirst(servers: readonly Server[], recent: readonly ServerId[]): readonly Server[] {
  return putRecentFirst(servers.toSorted(compareServers), recent);
}

/** Moves the recently used ones to the front; the others stay in their order. */
function putRecentFirst(sorted: readonly Server[], recent: readonly ServerId[]): readonly Server[] {
  const places = new Map(recent.map((id, place) => [id, place]));
  const placeOf = ({ id }: Server) => places.get(id) ?? places.size;
  const used = sorted.filter(({ id }) => places.has(id)).sort((a, b) => placeOf(a) - placeOf(b));
  return [...used, ...sorted.filter(({ id }) => !places.has(id))];
}

/** Finds the servers that a message mentions, of those that the actor's roles cover. It only finds them. */
export const findMentioned = defineUseCase({
  name: 'show',
  needs: 'viewer',
  effect: 'reads',
  run: async (
    { parts }: { readonly parts: readonly MessagePart[] },
    context,
  ): Promise<readonly MentionedServer[]> => {
    const hosting = await context.hosting();
    const { servers } = await hosting.fetchServers();
    const seen = servers.filter(({ label }) => context.covers(label));
    return findMentionedServers(parts, seen);
  },
});

const CODES = ['no_answer', 'unreadable_answer', 'unknown_code', 'checking'] as const;

/** Why an answer does not say whether the work was done. */
export type UnansweredCode = (typeof CODES)[number];

/** Reads the code of a failure that does not say whether the work was done; undefined for every other error. */
export function findUnanswered(error: unknown): UnansweredCode | undefined {
  return error instanceof HostingError ? CODES.find((code) => code === error.code) : undefined;
}

/**
 * Adds to an error of the hosting API what was not done to which server, so that a message can name both. Only for errors
 * that prove that nothing was done: an action whose answer was lost is no error, but an outcome of its own.
 */
export function nameFailure(
  error: unknown,
  failed: FailedAct,
  more: { readonly state?: string } = {},
): unknown {
  // A supplier that has not confirmed proves nothing, whatever was asked for.
  if (!(error instanceof HostingError) || error.code === 'checking') return error;
  const details = { ...error.details, state: more.state ?? error.details.state, failed };
  return new HostingError(error.code, error.moneyMoved, details);
}
