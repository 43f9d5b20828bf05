import type { AuditSubject } from '../core/audit-entry.ts';
import { defineUseCase, type UseCase, type UseCaseContext } from '../core/entry.ts';
import { choicesOf, Refusal, type RefusalDetails } from '../core/errors.ts';
import { matchServer, searchServers } from '../core/find-server.ts';
import type { ServerId } from '../core/ids.ts';
import { isIdenticalLabel } from '../core/labels.ts';
import type { Role } from '../core/roles.ts';
import { compareServers, isDeleted, type ListExtent, type Server, type ServerList } from '../core/server.ts';
import type { CallOptions } from '../hosting/hosting-api.ts';
import { actions, context, LIMITS, type Message, textMessage } from '../slack/kit/blocks.ts';
import { defineChoice } from '../slack/kit/button.ts';
import type { Suggestions } from '../slack/kit/command.ts';
import { serverOption } from '../slack/kit/fields.ts';
import type { SlackRequest } from '../slack/request.ts';
import { confirmPower } from './buttons.ts';

/**
 * A reference to a server: typed text, or the ID in a button or menu. With an ID, `label` is the label that the user has read
 * (`shortenLabel`) and confirmed.
 */
export type ServerRef = { readonly typed: string } | { readonly id: ServerId; readonly label?: string };

/** A reference by exact label, character by character, for callers that can't be asked which server they meant. */
export interface ExactRef {
  readonly exactly: string;
}

/** Names the subject of an action for the audit, before the server was looked up. */
export function subjectOf(ref: ServerRef | ExactRef): AuditSubject {
  if ('exactly' in ref) return { label: ref.exactly };
  return 'id' in ref ? { serverId: ref.id } : { label: ref.typed };
}

/**
 * Finds the one server that a reference means, and names it in the audit. Changes nothing.
 * @throws Refusal `unknown_server` (with the nearest labels), `ambiguous_server` (with the matches), `role_needed` if the
 * actor's role is for other servers, `no_api_key`; for an `ExactRef` also `list_incomplete`; HostingError if the list can't be read
 */
export async function getServer(
  ref: ServerRef | ExactRef,
  context: UseCaseContext,
  options?: CallOptions,
): Promise<Server> {
  if ('exactly' in ref) return getExactServer(ref.exactly, context, options);
  const hosting = await context.hosting();
  const list = await hosting.fetchServers(options);
  const server =
    'id' in ref
      ? list.servers.find(({ id }) => id === ref.id)
      : await getNamedServer(ref.typed, list, context);
  if (!server) throw notInList({ typed: 'id' in ref ? (ref.label ?? String(ref.id)) : ref.typed }, list);
  context.setSubject({ serverId: server.id, label: server.label });
  await context.requireRoleFor(server.label, 'id' in ref ? String(ref.id) : ref.typed);
  return server;
}

/**
 * Finds a server by its exact label. Checks the role first, so that the answer doesn't reveal which labels exist.
 * @throws Refusal `role_needed`, `unknown_server` without suggestions, `ambiguous_server`, `list_incomplete`
 */
async function getExactServer(
  label: string,
  context: UseCaseContext,
  options?: CallOptions,
): Promise<Server> {
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

/**
 * Finds a server by what was typed. A name means the same server for all users (docs/design.md 3.7): otherwise a user with a
 * role for a few servers could act on another server than they meant. Only the suggestions depend on the user.
 * @throws Refusal `unknown_server`, `ambiguous_server`
 */
export async function getNamedServer(
  typed: string,
  list: ServerList,
  context: UseCaseContext,
): Promise<Server> {
  const { covers } = context;
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

/** Makes the refusal for a server that isn't in the list. Carries the extent, since only a whole list proves its absence. */
export function notInList(
  details: RefusalDetails['unknown_server'],
  { extent }: { readonly extent: ListExtent },
): Refusal<'unknown_server'> {
  return new Refusal('unknown_server', extent === 'whole' ? details : { ...details, extent });
}

async function recentFirst(servers: readonly Server[], context: UseCaseContext): Promise<readonly Server[]> {
  return sortRecentFirst(servers, await listRecentIds(context));
}

/** `filter`: text typed into a menu that searches, '' at first; absent for other menus. */
type Choosing = UseCase<{ readonly filter?: string }, readonly Server[]>;

/** Lists the servers to choose from when a command names none, recently used first. Each needs its command's role. */
export const chooseServer = {
  show: defineChoosing('show', 'viewer'),
  start: defineChoosing('start', 'operator'),
  stop: defineChoosing('stop', 'operator'),
  reboot: defineChoosing('reboot', 'operator'),
  renew: defineChoosing('renew', 'manager'),
  delete: defineChoosing('delete', 'manager'),
} as const;

function defineChoosing(name: string, needs: Role): Choosing {
  return defineUseCase({
    name,
    needs,
    effect: 'reads',
    run: async ({ filter }: { readonly filter?: string }, context) => {
      const { covers } = context;
      const hosting = await context.hosting();
      // While a user types, every letter asks again.
      const freshness = filter === undefined ? 'shared' : 'recent';
      const [{ servers }, recent] = await Promise.all([
        hosting.fetchServers({ freshness }),
        listRecentIds(context),
      ]);
      const isOffered = (server: Server) => covers(server.label) && !isDeleted(server);
      return putRecentFirst(searchServers(filter ?? '', servers, isOffered), recent);
    },
  });
}

/** Audit entries to read for a user's recent servers. */
const LOOK_BACK = 200;

/** Lists the servers of the actor's latest audit entries, latest first, without denied attempts. */
export async function listRecentIds({ actor, app }: UseCaseContext): Promise<readonly ServerId[]> {
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

export const pickChoice = {
  show: defineChoice('pick_show'),
  start: defineChoice('pick_start'),
  stop: defineChoice('pick_stop'),
  reboot: defineChoice('pick_reboot'),
  password: defineChoice('pick_password'),
} as const;
type Verb = keyof typeof pickChoice;

/** Slack allows 100 choices, but not that many with long labels fit into one message. */
const MENU_MOST = 60;

/** Runs the work on the named server. Without a name, or if several servers match, asks with a menu and runs nothing. */
export async function offerServers(
  verb: Exclude<Verb, 'password'>,
  ref: { readonly typed: string },
  request: SlackRequest,
  work: (ref: ServerRef) => Promise<void>,
): Promise<void> {
  if (ref.typed === '') {
    const servers = await request.execute(chooseServer[verb], {});
    await request.reply.send(chooseMessage(verb, servers));
    return;
  }
  await offerMatches(verb, request, () => work(ref));
}

/** Runs the work. If it refuses because several servers match, asks with a menu. @throws every other error of the work */
export async function offerMatches(
  verb: Verb,
  request: SlackRequest,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const choices = choicesOf(error);
    if (choices.length === 0) throw error;
    await request.reply.send(pickMessage(verb, request.explain(error), choices));
  }
}

/** Lists the servers for a form's picker; undefined if the input names a server. */
export async function chooseUnnamed(
  verb: keyof typeof chooseServer,
  input: ServerRef | { readonly filter: string },
  request: SlackRequest,
): Promise<readonly Server[] | undefined> {
  if ('filter' in input) return request.execute(chooseServer[verb], input);
  const isUnnamed = 'typed' in input && input.typed === '';
  return isUnnamed ? request.execute(chooseServer[verb], {}) : undefined;
}

/** Lists the choices of a menu while the user types, where there are too many for one menu. */
export function suggestServers(id: string, choosing: Choosing): Suggestions {
  return {
    id,
    find: async (filter, request) =>
      (await request.execute(choosing, { filter })).slice(0, LIMITS.options).map(serverOption),
  };
}

const QUESTIONS: Readonly<Record<Verb, string>> = {
  show: 'Show which server?',
  start: 'Start which server?',
  stop: 'Stop which server?',
  reboot: 'Reboot which server?',
  password: 'Show the root password of which server?',
};

/** Asks for a server where none was named. */
export function chooseMessage(verb: Verb, servers: readonly Server[]): Message {
  if (servers.length === 0) return textMessage('There are no servers to choose from.');
  if (servers.length <= MENU_MOST || verb === 'password') return pickMessage(verb, QUESTIONS[verb], servers);
  return textMessage(
    QUESTIONS[verb],
    actions(pickChoice[verb].typeAhead('Type to search', confirmPower(verb))),
  );
}

/** Asks which of these servers was meant. */
export function pickMessage(verb: Verb, words: string, servers: readonly Server[]): Message {
  const offered = servers.slice(0, MENU_MOST);
  const menu = pickChoice[verb].menu('Choose a server', offered.map(serverOption), confirmPower(verb));
  const note = `Showing the first ${offered.length}. Type more of the label or ID to narrow the list.`;
  return textMessage(words, actions(menu), ...(offered.length < servers.length ? [context(note)] : []));
}
