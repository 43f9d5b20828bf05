import type { AuditSubject } from '../../domain/audit-entry.ts';
import { isRefusal, Refusal, type RefusalDetails } from '../../domain/errors.ts';
import type { ServerId } from '../../domain/ids.ts';
import { isIdenticalLabel } from '../../domain/label.ts';
import type { Server, ServerList } from '../../domain/server.ts';
import { matchServer } from '../../domain/server-ref.ts';
import type { UseCaseContext } from '../authorize/use-case.ts';
import type { CallOptions } from '../hosting-api.ts';
import { listRecentIds, sortRecentFirst } from './recent-servers.ts';

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

/** The servers that a refusal offers instead of the one that was named; none where there is nothing to choose. */
export function choicesOf(error: unknown): readonly Server[] {
  if (isRefusal(error, 'ambiguous_server')) return error.details.servers;
  return isRefusal(error, 'unknown_server') ? (error.details.near ?? []) : [];
}
