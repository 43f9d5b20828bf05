import type { AppContext } from '../context.ts';
import { defineUseCase, type UseCase, type UseCaseContext } from '../core/entry.ts';
import {
  describeDefect,
  findUnanswered,
  HostingError,
  isExpected,
  isRefusal,
  nameFailure,
  Refusal,
  type UnansweredCode,
} from '../core/errors.ts';
import { isFullName } from '../core/find-server.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { isIdenticalLabel, shortenLabel } from '../core/labels.ts';
import {
  isTargetState,
  type PowerAction,
  perPowerAction,
  type RecentReboot,
  type Server,
  type ServerList,
} from '../core/server.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { AcceptedPower, CallOptions, HostingApi, OnWait, Urgency } from '../hosting/hosting-api.ts';
import { actions, type Message, textMessage } from '../slack/kit/blocks.ts';
import { capital, codeLabel, escapeText, shorten, stateWords } from '../slack/kit/text.ts';
import { VERBS } from '../words.ts';
import { showButton } from './buttons.ts';
import { type ExactRef, getServer, type ServerRef, subjectOf } from './find.ts';
import { type FollowedServer, lookAt, PLACE_WITHIN_MS, startFollowing } from './follow.ts';
import { refuseProtected } from './notes.ts';

/** The outcome of a power action that the hosting API has accepted, or may have carried out. */
export interface PowerChange {
  readonly server: Server;
  /** The state in the hosting API's answer; absent if the answer proves none. If unconfirmed: from a list read right after. */
  readonly state?: string;
  /** The hosting API's own words, where its answer has no state. */
  readonly words?: string;
  /** The answer proves nothing: the action may have been carried out. */
  readonly isUnconfirmed: boolean;
  /** The act under which the server is followed; absent if it has settled, is unconfirmed, or can't be followed. */
  readonly actId?: string;
}

interface PowerInput {
  readonly ref: ServerRef | ExactRef;
  readonly onWait?: OnWait | undefined;
  /** The user was asked about this server and this action, and confirmed both. */
  readonly isSure?: boolean | undefined;
  /** The list that the user has confirmed, which includes this server. */
  readonly confirmed?: PowerConfirmation | undefined;
  /** Set for each of several servers of one command; `actId` is the act of the earlier ones, if one exists yet. */
  readonly batch?: { readonly actId?: string | undefined } | undefined;
  readonly urgency?: Urgency | undefined;
  /** Called after all checks, before the request is queued for the hosting API. If it rejects, nothing is sent. */
  readonly onSending?: (() => Promise<void>) | undefined;
}

/**
 * Starts, stops or reboots one server, and follows it in the background until it has settled.
 * Money effect: none; never sends a paid request.
 * @throws Refusal as `getServer` and `checkPower` do; HostingError with proof that nothing was done
 */
export const changePower = perPowerAction(definePower);

function definePower(action: PowerAction): UseCase<PowerInput, PowerChange> {
  return defineUseCase({
    name: action,
    needs: 'operator',
    effect: 'changes',
    announcesChange: true,
    subject: ({ ref }) => subjectOf(ref),
    run: async (input: PowerInput, context): Promise<PowerChange> => {
      const { ref, onWait, urgency, batch } = input;
      const waiting = { onWait, urgency };
      const server = await getServer(ref, context, waiting).catch((error: unknown) => {
        // With the action, so that the suggestion can offer it for the nearest server.
        if (isRefusal(error, 'unknown_server'))
          throw new Refusal('unknown_server', { ...error.details, act: action });
        const { serverId, label = String(serverId) } = subjectOf(ref);
        throw nameFailure(error, { act: action, label, serverId });
      });
      await checkPower(action, server, input, context);
      const hosting = await context.hosting();
      await input.onSending?.();
      await context.beforeChange();
      const answer = await send(action, server, hosting, waiting, context.app);
      if (answer.code === undefined) {
        const [account] = hosting.account;
        const actId = await followPower(action, server, answer.state, batch, account, context);
        return { server, ...answer, isUnconfirmed: false, actId };
      }
      const { code } = answer;
      context.setUnconfirmed(code);
      context.app.log.warn('a power action is unconfirmed', { action, serverId: server.id, code });
      const state = (await findNow(server, hosting))?.state;
      return { server, state, isUnconfirmed: true };
    },
  });
}

/**
 * Follows a server after the hosting API has accepted a power action. Returns the act's ID; undefined where a single start or
 * stop has already reached its target state, or the act can't be stored. Never throws, since the action was carried out. `state`: the
 * one in the hosting API's answer.
 */
async function followPower(
  action: PowerAction,
  server: Server,
  state: string | undefined,
  batch: PowerInput['batch'],
  account: string,
  { actor, app }: UseCaseContext,
): Promise<string | undefined> {
  const followed = followedAfter(action, { server, state });
  const { workspaceId, userId: actorId, channelId } = actor;
  const id = batch?.actId ?? app.system.newId();
  const act = { id, workspaceId, action, actorId, account, channelId };
  if (followed.standing === 'there' && !batch) {
    // Ends what earlier acts follow of the server.
    await app.followedActs.supersede(act, server.id).catch((error: unknown) => {
      const fields = { serverId: server.id, ...describeDefect(error) };
      app.log.warn('an earlier act could not be superseded', fields);
    });
    return undefined;
  }
  return (await startFollowing(act, followed, app, PLACE_WITHIN_MS)) ? id : undefined;
}

/** Returns what is known of a server once the hosting API has accepted a power action. */
export function followedAfter(
  action: PowerAction,
  { server, state }: Pick<PowerChange, 'server' | 'state'>,
): FollowedServer {
  const isAtTarget = isTargetState(action, { state });
  return {
    serverId: server.id,
    label: server.label,
    // A server that is still running right after its reboot was accepted may not have gone down yet.
    standing: isAtTarget && action !== 'reboot' ? 'there' : 'waiting',
    // Before the action or in its answer. A reboot's target is usually the state before.
    hasChanged: (state !== undefined && !isAtTarget) || !isTargetState(action, server),
    state,
  };
}

/** Returns the answer, or the code that leaves it unconfirmed. @throws HostingError with proof that nothing was done */
async function send(
  action: PowerAction,
  server: Server,
  hosting: HostingApi,
  waiting: CallOptions,
  app: AppContext,
): Promise<(AcceptedPower & { readonly code?: never }) | { readonly code: UnansweredCode }> {
  try {
    return await hosting.changePower(action, server.id, waiting);
  } catch (error) {
    const code = findUnanswered(error);
    if (code === undefined) throw await describeFailure(error, action, server, hosting, app);
    return { code };
  }
}

/** Adds the server and the action to an error and, for `wrong_state`, the server's current state. */
async function describeFailure(
  error: unknown,
  act: PowerAction,
  server: Server,
  hosting: HostingApi,
  { system }: AppContext,
): Promise<unknown> {
  const isWrongState = error instanceof HostingError && error.code === 'wrong_state';
  const {
    label,
    id: serverId,
    state,
    paidUntil,
  } = (isWrongState && (await findNow(server, hosting))) || server;
  const isPaidTimeOver = paidUntil !== undefined && paidUntil <= system.now();
  const failed = { act, label, serverId, isPaidTimeOver };
  return nameFailure(error, failed, isWrongState ? { state } : {});
}

/**
 * Finds the server in a fresh list; undefined if it isn't listed, has another label, which the actor's role may not cover, or the
 * list can't be read.
 */
async function findNow(server: Server, hosting: HostingApi): Promise<Server | undefined> {
  try {
    const { servers } = await hosting.fetchServers({ freshness: 'fresh' });
    return servers.find(({ id, label }) => id === server.id && isIdenticalLabel(label, server.label));
  } catch {
    return undefined;
  }
}

/** A second reboot within this time is probably a second person, or an impatient press. */
const REPEAT_MS = 2 * MINUTE_MS;

/**
 * Refuses an action that the server or the user's confirmation doesn't allow.
 * @throws Refusal `server_protected`; unless the user is sure, `prefix_only` and `rebooted_recently`; and for a confirmed
 * list what `takeConfirmation` throws
 */
async function checkPower(
  action: PowerAction,
  server: Server,
  { ref, isSure, confirmed }: PowerInput,
  context: UseCaseContext,
): Promise<void> {
  const { actor, app } = context;
  await refuseProtected(action, server, actor.workspaceId, app);
  if (isSure) return;
  if ('typed' in ref && !isFullName(ref.typed, server))
    throw new Refusal('prefix_only', { typed: ref.typed, server, action });
  if (confirmed) await takeConfirmation(action, server, ref, confirmed, app);
  // The confirmed list already says who rebooted its servers: only a later reboot is news.
  const last = action === 'reboot' ? await findReboot(server, context, confirmed?.at) : undefined;
  if (last) throw new Refusal('rebooted_recently', { server, ...last });
}

/** Finds who rebooted the server within the last two minutes, from the audit. `since` (epoch ms) ignores earlier reboots. */
export async function findReboot(
  { id: serverId }: Server,
  { actor: { workspaceId }, app }: UseCaseContext,
  since = 0,
): Promise<RecentReboot | undefined> {
  const now = app.system.now();
  const last = await app.audit.findLast({
    workspaceId,
    serverId,
    actions: ['reboot'],
    outcomes: ['done', 'in_doubt'],
    since: Math.max(since, now - REPEAT_MS),
  });
  return (
    last && { agoMs: now - last.at, rebootedBy: last.actorId, isUnconfirmed: last.outcome === 'in_doubt' }
  );
}

/** A list of servers that the user has read and confirmed. */
export interface PowerConfirmation {
  readonly id: ConfirmationId;
  /** When the list was made, in epoch milliseconds. */
  readonly at: number;
}

/** Shorter than `SEEN_MS` (`db/kept.ts`), so that a second press is always recognized. */
const CONFIRM_WITHIN_MS = 10 * MINUTE_MS;

/**
 * Takes a confirmed list for this server, once: a second press is refused.
 * @throws Refusal `unreadable_press`, `server_renamed`, `already_handled`
 */
async function takeConfirmation(
  action: PowerAction,
  server: Server,
  ref: ServerRef | ExactRef,
  { id, at }: PowerConfirmation,
  { system, seenRequests }: AppContext,
): Promise<void> {
  const now = system.now();
  if (now - at > CONFIRM_WITHIN_MS) throw new Refusal('unreadable_press', {});
  const label = 'id' in ref ? ref.label : undefined;
  if (label !== undefined && !isIdenticalLabel(shortenLabel(server.label), label))
    throw new Refusal('server_renamed', { before: label, now: server.label, action });
  if (!(await seenRequests.addFirst(`power:${id}:${server.id}`, now)))
    throw new Refusal('already_handled', {});
}

const WATCH_MS = 2 * MINUTE_MS;
const FIRST_WAIT_MS = 1500;
const LONGEST_WAIT_MS = 10_000;

/**
 * Watches a server for a user whose screen shows it, with growing pauses, until it has settled or two minutes have passed. Returns
 * what was seen of it, and how long the watch took, in milliseconds. To show it to a user, read it again: their role may have ended
 * by then. `follow.ts` updates messages in channels.
 * @throws Refusal `role_needed`, `no_api_key`
 */
export const watchServer = defineUseCase({
  name: 'show',
  needs: 'viewer',
  effect: 'reads',
  run: async ({ action, change }: { action: PowerAction; change: PowerChange }, context) => {
    const { system } = context.app;
    const hosting = await context.hosting();
    const startedAt = system.elapsed();
    let server = followedAfter(action, change);
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 1.6, LONGEST_WAIT_MS)) {
      await system.sleep(waitMs);
      const list = await look(hosting);
      const ms = system.elapsed() - startedAt;
      if (typeof list === 'object') {
        const found = list.servers.find(({ id }) => id === server.serverId);
        if (found) await context.requireRoleFor(found.label, String(found.id));
        server = lookAt(server, action, { found, isComplete: list.extent === 'whole' }, ms);
      }
      if (server.standing !== 'waiting' || list === 'stopping' || ms + waitMs > WATCH_MS)
        return { server, ms };
    }
  },
});

/**
 * Reads the servers as background work, so that a watch doesn't delay users. Undefined without an answer; `stopping` when the app
 * is shutting down.
 */
async function look(hosting: HostingApi): Promise<ServerList | 'stopping' | undefined> {
  try {
    return await hosting.fetchServers({ urgency: 'background' });
  } catch (error) {
    if (!isExpected(error)) throw error;
    return isRefusal(error, 'shutting_down') ? 'stopping' : undefined;
  }
}

/** Announces an accepted power action, to follow the user's name: "is rebooting `web-1`…". */
export function announcedWords(
  action: PowerAction,
  change: { readonly server: { readonly label: string }; readonly state?: string; readonly words?: string },
): string {
  const label = codeLabel(change.server.label);
  const { past, present } = VERBS[action];
  if (!isTargetState(action, change)) return `is ${present} ${label}…${quote(change)}`;
  return `${past} ${label}: ${stateWords({ state: change.state ?? '' })}`;
}

/** Reports an accepted power action to the user alone, where nothing is announced. */
export function answerWords(action: PowerAction, change: PowerChange): string {
  const label = codeLabel(change.server.label);
  if (change.state === undefined)
    return `The hosting API accepted the request to ${action} ${label}.${quote(change)}`;
  if (!isTargetState(action, change)) return `${capital(VERBS[action].present)} ${label}…`;
  return `${label} was ${VERBS[action].past}. It’s ${stateWords({ state: change.state ?? '' })}.`;
}

function quote({ words }: { readonly words?: string }): string {
  return words === undefined ? '' : ` The hosting API says: “${escapeText(shorten(words, 200))}”`;
}

export function unconfirmedMessage(action: PowerAction, { server, state }: PowerChange): Message {
  const seen = state ? ` Right after that, the API reported ${stateWords({ state })}.` : '';
  return textMessage(
    `We’re not sure whether ${codeLabel(server.label)} was ${VERBS[action].past}: the hosting API didn’t confirm it.${seen}`,
    actions(showButton.element('Show server', { id: server.id })),
  );
}
