import type { ConfirmationDialog, KnownBlock } from '@slack/types';
import { type UseCaseContext as Context, defineUseCase, type UseCase } from '../core/entry.ts';
import { isExpected, isRefusal, Refusal } from '../core/errors.ts';
import { isFullName, isPattern, matchPattern, matchServer } from '../core/find-server.ts';
import type { UserId } from '../core/ids.ts';
import { isIdenticalLabel, shortenLabel } from '../core/labels.ts';
import {
  compareServers,
  isTargetState,
  type NamedServer,
  type PowerAction,
  perPowerAction,
  powerActionsIn,
  type RecentReboot,
  type Server,
  type ServerList,
} from '../core/server.ts';
import type { OnWait } from '../hosting/hosting-api.ts';
import {
  actions,
  context,
  type Message,
  type MessageBlock,
  section,
  sectionsOf,
  textMessage,
} from '../slack/kit/blocks.ts';
import { capital, codeLabel, count, mention, plainLabel, stateWords } from '../slack/kit/text.ts';
import { sendWaiting } from '../slack/reply.ts';
import type { SlackRequest } from '../slack/request.ts';
import { rebootedWords, VERBS } from '../words.ts';
import { confirmPower, severalButton } from './buttons.ts';
import {
  changePower,
  findReboot,
  followedAfter,
  type PowerChange,
  type PowerConfirmation,
  unconfirmedMessage,
} from './change-power.ts';
import { getNamedServer, notInList, type ServerRef } from './find.ts';
import { followedLines, severalActWords, severalAnswer } from './follow-words.ts';
import { findRetriable } from './words.ts';

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

export interface SelectedServers {
  readonly confirmation: PowerConfirmation;
  readonly chosen: readonly SelectedServer[];
  readonly leftOut: readonly LeftOutServer[];
  /** The refusals of words that match no server, or several. */
  readonly unmatched: readonly Refusal[];
}

interface SelectedServer {
  readonly server: Server;
  readonly reboot?: RecentReboot;
}

/** A server that matches, but is protected or in a state in which the action makes no sense. */
interface LeftOutServer {
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
export const selectServers = perPowerAction(defineSelecting);

function defineSelecting(action: PowerAction): UseCase<SelectionInput, Selection> {
  return defineUseCase({
    name: action,
    needs: 'operator',
    effect: 'reads',
    run: async ({ names: words, whole, onWait }, context): Promise<Selection> => {
      const hosting = await context.hosting();
      const list = await hosting.fetchServers({ onWait });
      const names = words.filter((word) => !isFiller(word, list.servers));
      const patterns = names.filter((name) => isPattern(name) && !list.servers.some(hasLabel(name)));
      const server = patterns.length === 0 ? findWhole(names, whole, list.servers, context) : undefined;
      if (server) return { kind: 'whole', server };
      const meanings = await readNames(names, patterns, list, context);
      const unmatched = meanings.flatMap(({ refusal }) =>
        isRefusal(refusal, 'unknown_server') ? refusal : [],
      );
      // Among words that match nothing, a name may mean something else: "reboot all except web-1".
      if (patterns.length > 0 || (unmatched.length > 0 && unmatched.length < names.length))
        return { kind: 'listed', ...(await listMatches(action, meanings, context)) };
      return { kind: 'names', names: unmatched.length > 0 ? [] : names, unmatched };
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

/** Finds the server whose label all words are together, if they name one. @throws Refusal `ambiguous_server` if that is unclear */
function findWhole(
  names: readonly string[],
  whole: string,
  servers: readonly Server[],
  { covers }: Context,
): Server | undefined {
  const [server, ...others] = listInFull(whole, servers).filter(({ label }) => covers(label));
  if (!server) return undefined;
  const named = names.map((name) => listInFull(name, servers));
  // One name for one server, or several names for others: neither reading may act.
  if (others.length > 0 || named.every((matches) => matches.length > 0)) {
    const readings = new Set([server, ...others, ...named.flat()]);
    const offered = [...readings].filter(({ label }) => covers(label));
    throw new Refusal('ambiguous_server', { typed: whole, servers: offered });
  }
  return server;
}

/** Lists the servers that are named in full, not only by the beginning of their labels. */
function listInFull(typed: string, servers: readonly Server[]): readonly Server[] {
  const match = matchServer(typed, servers, () => false);
  const matches = match.kind === 'found' ? [match.server] : match.kind === 'ambiguous' ? match.servers : [];
  return matches.filter((server) => isFullName(typed, server));
}

interface Meaning {
  readonly name: string;
  readonly servers: readonly Server[];
  /** Why it means no server. */
  readonly refusal?: Refusal | undefined;
}

async function readNames(
  names: readonly string[],
  patterns: readonly string[],
  list: ServerList,
  context: Context,
): Promise<readonly Meaning[]> {
  const meanings: Meaning[] = [];
  for (const name of names) {
    // Between any two of them, other users' requests go first.
    await context.app.system.sleep(0);
    if (patterns.includes(name)) {
      const servers = matchPattern(name, list.servers).filter(({ label }) => context.covers(label));
      const refusal = servers.length === 0 ? notInList({ typed: name }, list) : undefined;
      meanings.push({ name, servers, refusal });
      continue;
    }
    try {
      meanings.push({ name, servers: [await getNamedServer(name, list, context)] });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      meanings.push({ name, servers: [], refusal: error });
    }
  }
  return meanings;
}

/** Lists the servers to confirm. @throws Refusal `too_many_servers`, `role_needed` */
async function listMatches(
  action: PowerAction,
  meanings: readonly Meaning[],
  context: Context,
): Promise<SelectedServers> {
  const { system } = context.app;
  const confirmation = { id: system.newId(), at: system.now() };
  for (const { name, servers } of meanings)
    for (const { label } of servers) await context.requireRoleFor(label, name);
  const matches = new Set(meanings.flatMap(({ servers }) => servers));
  const unmatched = meanings.flatMap(({ refusal }) => refusal ?? []);
  const { chosen, leftOut } = await partition(action, [...matches].sort(compareServers), context);
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

interface Outcomes {
  readonly done: PowerChange[];
  /** Blocks that only the user sees. */
  readonly others: MessageBlock[];
  /** Servers to which nothing was done, with proof, and which the action is offered for again. */
  readonly again: NamedServer[];
  /** For how many servers nothing proves whether the action was carried out. */
  unproven: number;
}

/**
 * Acts on servers one after the other, even if one fails. Reports together, since Slack takes only five replies to a command.
 * `unmatched`: why other typed words mean no server.
 */
export async function runSeveral(
  action: PowerAction,
  refs: readonly ServerRef[],
  request: SlackRequest,
  unmatched: readonly Refusal[] = [],
): Promise<void> {
  const outcomes = await actOnEach(action, refs, request);
  outcomes.others.push(...unmatched.map((refusal) => section(request.explain(refusal))));
  const announced = await announceDone(action, outcomes, request);
  if (!announced || outcomes.others.length > 0)
    await request.reply.send(reportMessage(action, outcomes, refs.length, announced, request));
}

/**
 * Acts on the servers of a confirmed list, and replaces the list with the report.
 * @throws Refusal `unreadable_press`, `already_handled`
 */
export async function runConfirmed(
  action: PowerAction,
  confirmed: PowerConfirmation,
  refs: readonly ServerRef[],
  request: SlackRequest,
): Promise<void> {
  await request.authorize(changePower[action]);
  // Only the press that acts first removes the button, so that a later press doesn't overwrite its report.
  const [only] = refs;
  const which = only && refs.length === 1 ? nameOf(only) : count(refs.length, 'server');
  const words = `${capital(VERBS[action].present)} ${which}…`;
  const outcomes = await actOnEach(action, refs, request, confirmed, () =>
    request.reply.edit(textMessage(words)),
  );
  const announced = await announceDone(action, outcomes, request);
  await request.reply.replace(reportMessage(action, outcomes, refs.length, announced, request));
}

async function actOnEach(
  action: PowerAction,
  refs: readonly ServerRef[],
  request: SlackRequest,
  confirmed?: PowerConfirmation,
  onTaken?: () => Promise<unknown>,
): Promise<Outcomes> {
  const onWait = sendWaiting(request);
  const outcomes: Outcomes = { done: [], others: [], again: [], unproven: 0 };
  for (const [place, ref] of refs.entries()) {
    // The same signed request acts once on each server that it names.
    const subrequest = request.subrequest(place);
    try {
      const change = await subrequest.execute(changePower[action], {
        ref,
        onWait,
        confirmed,
        batch: { actId: actOf(outcomes.done) },
      });
      if (!change.isUnconfirmed) outcomes.done.push(change);
      else {
        outcomes.unproven += 1;
        outcomes.others.push(...unconfirmedMessage(action, change).blocks);
      }
    } catch (error) {
      // Applies to all servers: the list has expired, or another press or delivery acts on them and reports.
      const isOver = isRefusal(error, 'unreadable_press') || isRefusal(error, 'already_handled');
      if (isOver && place === 0) throw error;
      if (isRefusal(error, 'prefix_only') || isRefusal(error, 'rebooted_recently'))
        outcomes.again.push(error.details.server);
      if (!isExpected(error)) outcomes.unproven += 1;
      const failed = findRetriable(error);
      // A failure knows only the ID if the list of servers could not be read: the user has read the label.
      const label = 'id' in ref ? ref.label : undefined;
      if (failed) outcomes.again.push({ ...failed, label: label ?? failed.label });
      const words = subrequest.explain(error);
      outcomes.others.push(section(words.includes(nameOf(ref)) ? words : `${nameOf(ref)}: ${words}`));
    }
    if (place === 0) await onTaken?.();
  }
  return outcomes;
}

function nameOf(ref: ServerRef): string {
  return 'id' in ref ? codeLabel(ref.label ?? String(ref.id)) : codeLabel(ref.typed);
}

/** Announces accepted actions in the channel; false if nothing was announced. The background reports how they end. */
async function announceDone(
  action: PowerAction,
  { done }: Outcomes,
  request: SlackRequest,
): Promise<boolean> {
  if (done.length === 0) return false;
  const servers = done.map((change) => followedAfter(action, change));
  const list = servers.length > 1 ? followedLines(servers, { action, isMeasured: true }) : [];
  const announced = await request.announce(severalActWords(servers, action), ...list);
  const actId = actOf(done);
  if (actId !== undefined) await request.placeAct(actId, announced);
  return announced !== undefined;
}

/** The act that the servers of a command share, since they have one message. */
function actOf(done: readonly PowerChange[]): string | undefined {
  return done.find(({ actId }) => actId !== undefined)?.actId;
}

/** Renders what only the user sees, including what couldn't be announced. */
function reportMessage(
  action: PowerAction,
  { done, others, again, unproven }: Outcomes,
  total: number,
  announced: boolean,
  request: SlackRequest,
): Message {
  const { past, present } = VERBS[action];
  const words =
    done.length > 0 && !announced
      ? severalAnswer(
          done.map((change) => followedAfter(action, change)),
          action,
        )
      : done.length > 0
        ? `${capital(present)} ${done.length} of ${count(total, 'server')}.`
        : unproven > 0
          ? `We’re not sure about ${unproven} of ${count(total, 'server')}.`
          : `Nothing was ${past}.`;
  const at = request.now();
  const confirmation = { id: `${request.caller.actor.userId}-${at}`, at };
  return textMessage(
    words,
    ...others,
    ...(again.length > 0 ? [askBlock(action, confirmation, again, confirmPower(action, again))] : []),
  );
}

/** A section takes 3,000 characters, and each of a label's 40 may be five when it is escaped. */
const IN_A_SECTION = 10;
const LEFT_OUT_SHOWN = 10;

/** Renders the list that typed words match, with the button that confirms it. `explain` puts the refusals into words. */
export function selectionMessage(
  action: PowerAction,
  { confirmation, chosen, leftOut, unmatched }: SelectedServers,
  explain: (error: Refusal) => string,
): Message {
  const { title, past } = VERBS[action];
  const others = [
    ...(leftOut.length > 0 ? [context(leftOutWords(past, leftOut))] : []),
    ...unmatched.slice(0, LEFT_OUT_SHOWN).map((error) => section(explain(error))),
  ];
  if (chosen.length === 0) return textMessage(`Nothing was ${past}.`, ...others);
  const servers = chosen.map(({ server }) => server);
  const [only, ...more] = servers;
  const which = only && more.length === 0 ? codeLabel(only.label, 40) : `these ${servers.length} servers`;
  return textMessage(
    `${title} ${which}?`,
    ...listBlocks(chosen),
    ...others,
    askBlock(action, confirmation, servers),
    context(
      'Nothing has changed yet. The button affects only the servers in this list and works for 10 minutes.',
    ),
  );
}

/** Renders the button that acts on these servers. `confirm`: what it asks first, where it doesn't stand below a list to confirm. */
function askBlock(
  action: PowerAction,
  { id, at }: PowerConfirmation,
  servers: readonly NamedServer[],
  confirm?: ConfirmationDialog,
): KnownBlock {
  const style = action === 'start' ? ('primary' as const) : ('danger' as const);
  const text = `${VERBS[action].title} ${whichOf(servers)}`;
  const value = {
    id,
    at,
    servers: servers.map((one) => [one.id, shortenLabel(one.label)] as [number, string]),
  };
  return actions(severalButton[action].element(text, value, { style, confirm }));
}

/** "web-1", or "3 servers". */
function whichOf(servers: readonly NamedServer[]): string {
  const [only, ...others] = servers;
  return only && others.length === 0 ? plainLabel(only.label, 40) : count(servers.length, 'server');
}

function listBlocks(chosen: readonly SelectedServer[]): KnownBlock[] {
  const lines = chosen.map(({ server, reboot }) => {
    const line = `${codeLabel(server.label, 40)} ${stateWords(server)}`;
    return reboot ? `${line}, ${rebootedWords(reboot)}` : line;
  });
  return sectionsOf(lines, IN_A_SECTION);
}

function leftOutWords(past: string, leftOut: readonly LeftOutServer[]): string {
  const named = leftOut.slice(0, LEFT_OUT_SHOWN).map(({ server, protectedBy }) => {
    const why = protectedBy === undefined ? stateWords(server) : `protected by ${mention(protectedBy)}`;
    return `${codeLabel(server.label, 40)} (${why})`;
  });
  const more = leftOut.length - named.length;
  return `Won’t be ${past}: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
