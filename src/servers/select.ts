import { type UseCaseContext as Context, defineUseCase, type UseCase } from '../core/entry.ts';
import { isRefusal, Refusal } from '../core/errors.ts';
import { isFullName, isPattern, matchPattern, matchServer } from '../core/find-server.ts';
import type { UserId } from '../core/ids.ts';
import { isIdenticalLabel } from '../core/labels.ts';
import {
  compareServers,
  isTargetState,
  type PowerAction,
  powerActionsIn,
  type Server,
  type ServerList,
} from '../core/server.ts';
import type { OnWait } from '../hosting/hosting-api.ts';
import { findReboot, type PowerConfirmation } from './change-power.ts';
import { getNamedServer, notInList } from './find.ts';

/** Most servers in one command; more are probably a mistake. */
export const MOST_AT_ONCE = 20;

type Selection =
  /** Each word is a name of its own. `unmatched`: the refusals of words that match no server. */
  | {
      readonly kind: 'names';
      readonly names: readonly string[];
      readonly unmatched: readonly Refusal<'unknown_server'>[];
    }
  /** Together, the words are the name of this server. */
  | { readonly kind: 'whole'; readonly server: Server }
  /** Some words are patterns: the user has to confirm this list. */
  | ({ readonly kind: 'listed' } & SelectedServers);

/** The list of servers that typed words match, for the user to confirm. */
export interface SelectedServers {
  readonly confirmation: PowerConfirmation;
  readonly chosen: readonly SelectedServer[];
  readonly leftOut: readonly LeftOutServer[];
  /** The refusals of words that match no server, or several. */
  readonly unmatched: readonly Refusal[];
}

/** A server to act on, with its reboot of the last two minutes, if any. */
export interface SelectedServer {
  readonly server: Server;
  readonly reboot?: { readonly agoMs: number; readonly rebootedBy: UserId };
}

/** A server that matches, but is protected or in a state in which the action makes no sense. */
export interface LeftOutServer {
  readonly server: Server;
  readonly protectedBy?: UserId;
}

interface SelectionInput {
  readonly names: readonly string[];
  /** Everything that was typed, as one name. */
  readonly whole: string;
  readonly onWait?: OnWait | undefined;
}

/**
 * Finds what several typed names and patterns mean. Changes nothing.
 * @throws Refusal `ambiguous_server`, `too_many_servers`, `role_needed`, `no_api_key`; HostingError
 */
export const selectServers: Readonly<Record<PowerAction, UseCase<SelectionInput, Selection>>> = {
  start: defineSelecting('start'),
  stop: defineSelecting('stop'),
  reboot: defineSelecting('reboot'),
};

function defineSelecting(action: PowerAction): UseCase<SelectionInput, Selection> {
  return defineUseCase({
    name: action,
    needs: 'operator',
    effect: 'reads',
    run: async ({ names: words, whole, onWait }: SelectionInput, context) => {
      const hosting = await context.hosting();
      const list = await hosting.fetchServers({ onWait });
      const { servers } = list;
      const names = words.filter((word) => !isFiller(word, servers));
      const patterns = names.filter((name) => isPattern(name) && !servers.some(hasLabel(name)));
      if (patterns.length === 0) return readNames(action, names, whole, list, context);
      return { kind: 'listed', ...(await listMatches(action, names, patterns, list, context)) };
    },
  });
}

/** Words of a sentence such as "reboot the server web-1 please". */
const FILLERS: readonly string[] = ['the', 'server', 'servers', 'please', 'now', 'and', 'my', 'our'];

/** A server may have such a word as its label: then it means the server. */
function isFiller(word: string, servers: readonly Server[]): boolean {
  const plain = word.toLowerCase().replace(/[?!.]{1,3}$/, '');
  return FILLERS.includes(plain) && listInFull(word, servers).length === 0;
}

function hasLabel(name: string) {
  return ({ label }: Server) => isIdenticalLabel(label, name);
}

/** Reads words without patterns: several names, or one label with spaces. @throws Refusal `ambiguous_server` if unclear */
async function readNames(
  action: PowerAction,
  names: readonly string[],
  whole: string,
  list: ServerList,
  context: Context,
): Promise<Selection> {
  const { servers } = list;
  const meant = listInFull(whole, servers);
  const [server, ...others] = meant.filter(({ label }) => context.covers(label));
  if (!server) return separate(action, names, list, context);
  const named = names.map((name) => listInFull(name, servers));
  // One name for one server, or several names for others: neither reading may act.
  if (others.length > 0 || named.every((matches) => matches.length > 0)) {
    const readings = new Set([server, ...others, ...named.flat()]);
    const offered = [...readings].filter(({ label }) => context.covers(label));
    throw new Refusal('ambiguous_server', { typed: whole, servers: offered });
  }
  return { kind: 'whole', server };
}

/**
 * Separates names of servers from words that match none: nothing is tried for those. Among such words, a name may mean something
 * else ("reboot all except web-1"), so the user confirms what was found.
 */
async function separate(
  action: PowerAction,
  names: readonly string[],
  list: ServerList,
  context: Context,
): Promise<Selection> {
  const found: string[] = [];
  const unmatched: Refusal<'unknown_server'>[] = [];
  for (const name of names) {
    // Between any two of them, other users' requests go first.
    await context.app.system.sleep(0);
    const refusal = await getNamedServer(name, list, context).catch((error: unknown) => error);
    if (isRefusal(refusal, 'unknown_server')) unmatched.push(refusal);
    else found.push(name);
  }
  if (found.length > 0 && unmatched.length > 0)
    return { kind: 'listed', ...(await listMatches(action, names, [], list, context)) };
  return { kind: 'names', names: found, unmatched };
}

/** Lists the servers that are named in full, not only by the beginning of their labels. */
function listInFull(typed: string, servers: readonly Server[]): readonly Server[] {
  const match = matchServer(typed, servers, () => false);
  const matches = match.kind === 'found' ? [match.server] : match.kind === 'ambiguous' ? match.servers : [];
  return matches.filter((server) => isFullName(typed, server));
}

/** Lists the servers that names and patterns match. @throws Refusal `too_many_servers`, `role_needed` */
async function listMatches(
  action: PowerAction,
  names: readonly string[],
  patterns: readonly string[],
  list: ServerList,
  context: Context,
): Promise<SelectedServers> {
  const { covers, app } = context;
  const confirmation = { id: app.system.newId(), at: app.system.now() };
  const matches = new Set<Server>();
  const unmatched: Refusal[] = [];
  for (const name of names) {
    // Between any two of them, other users' requests go first.
    await app.system.sleep(0);
    if (patterns.includes(name)) {
      const covered = matchPattern(name, list.servers).filter(({ label }) => covers(label));
      if (covered.length === 0) unmatched.push(notInList({ typed: name }, list));
      for (const server of covered) matches.add(server);
      continue;
    }
    const found = await getNamedServer(name, list, context).catch((error: unknown) => {
      if (error instanceof Refusal) return error;
      throw error;
    });
    if (found instanceof Refusal) {
      unmatched.push(found);
      continue;
    }
    await context.requireRoleFor(found.label, name);
    matches.add(found);
  }
  const sorted = [...matches].filter(({ label }) => covers(label)).sort(compareServers);
  const { chosen, leftOut } = await partition(action, sorted, context);
  if (chosen.length > MOST_AT_ONCE)
    throw new Refusal('too_many_servers', { count: chosen.length, most: MOST_AT_ONCE, action });
  return { confirmation, chosen: await withReboots(action, chosen, context), leftOut, unmatched };
}

/** Separates servers to act on from those that the action would be refused for, or would do nothing to. */
async function partition(action: PowerAction, servers: readonly Server[], { actor, app }: Context) {
  const protections = action === 'start' ? [] : await app.serverNotes.list('protection', actor.workspaceId);
  const protectors = new Map(protections.map(({ serverId, protectedBy }) => [serverId, protectedBy]));
  const suitable = servers.filter((server) => isSuitable(action, server));
  const protectedOnes = suitable.filter(({ id }) => protectors.has(id));
  const leftOut: LeftOutServer[] = [
    ...protectedOnes.map((server) => ({ server, protectedBy: protectors.get(server.id) })),
    ...servers.filter((server) => !isSuitable(action, server)).map((server) => ({ server })),
  ];
  return { chosen: suitable.filter(({ id }) => !protectors.has(id)), leftOut };
}

function isSuitable(action: PowerAction, server: Server): boolean {
  const isOff = action !== 'start' && isTargetState('stop', server);
  return !isOff && powerActionsIn(server).includes(action);
}

async function withReboots(
  action: PowerAction,
  servers: readonly Server[],
  context: Context,
): Promise<readonly SelectedServer[]> {
  if (action !== 'reboot') return servers.map((server) => ({ server }));
  return Promise.all(servers.map(async (server) => ({ server, reboot: await findReboot(server, context) })));
}
