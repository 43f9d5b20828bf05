import type { KnownBlock } from '@slack/types';
import { defineUseCase } from '../core/entry.ts';
import type { ServerId, UserId } from '../core/ids.ts';
import { isPlainAddress, isTargetState, type PowerAction } from '../core/server.ts';
import { MINUTE_MS } from '../core/time.ts';
import { actions, context, type Message, sectionsOf, textMessage } from '../slack/kit/blocks.ts';
import {
  capital,
  codeLabel,
  codeTyped,
  count,
  mention,
  nameActor,
  plainLabel,
  slackDate,
  stateWords,
} from '../slack/kit/text.ts';
import { type NotifierParts, notifySafely } from '../slack/outbox.ts';
import { confirmerOf } from '../slack/reply.ts';
import type { SlackRequest } from '../slack/request.ts';
import { VERBS } from '../words.ts';
import { type Checked, checkButton, confirmPower, powerButton, showButton } from './buttons.ts';
import {
  FOLLOW_MS,
  FOLLOWED_ACTIONS,
  type FollowedAct,
  type FollowedAction,
  type FollowedServer,
  isOver,
  isPower,
  lookAt,
  type ShownAct,
  type Updated,
} from './follow.ts';

/** How to word a followed action. `after`: how long the app has waited in vain; absent while it is still following. */
interface FollowWording {
  readonly action: FollowedAction;
  /** The app has measured how long the action took. */
  readonly isMeasured: boolean;
  readonly after?: string | undefined;
}

const ACTS = {
  ...VERBS,
  create: { past: 'created', present: 'creating' },
  renew: { past: 'renewed', present: 'renewing' },
} as const;

function pastOf(action: string): string {
  const known = FOLLOWED_ACTIONS.find((each) => each === action);
  return known ? ACTS[known].past : 'changed';
}

/** Whether the API already reports the power action's target state, so that it can be called done. */
function isReported(server: FollowedServer, action: FollowedAction): boolean {
  return isPower(action) && isTargetState(action, server);
}

/** Says what the user did to one server and how it ended, to follow the user's name: "stopped `web-1`: …". */
function actWords(server: FollowedServer, wording: FollowWording, approvedBy?: UserId): string {
  const approved = approvedBy === undefined ? '' : `, approved by ${mention(approvedBy)}`;
  const label = `${codeLabel(server.label)}${approved}`;
  const { past, present } = ACTS[wording.action];
  // Orders and deletions are followed only once they are done.
  const begun = isPower(wording.action) ? `was ${present}` : past;
  switch (server.standing) {
    case 'there':
      return `${past} ${label}${thereWords(server, wording)}`;
    case 'gone':
      return `${begun} ${label}. It’s no longer in the hosting account.`;
    case 'superseded':
      return `${begun} ${label}. ${supersededWords(server)}`;
    case 'unknown':
      return `${begun} ${label}. ${LOST}`;
    case 'waiting': {
      if (wording.after !== undefined)
        return `${lateStart(server, label, wording)} ${lateWords(server, wording, 'It’s')}`;
      if (isReported(server, wording.action)) return `${past} ${label}: ${stateOf(server)}`;
      return isPower(wording.action) ? `is ${present} ${label}…` : `${past} ${label}`;
    }
  }
}

/** Says how one server is, with the server as the subject: "`web-1` is running." For lists, and messages to the actor alone. */
function serverWords(server: FollowedServer, wording: FollowWording): string {
  const label = codeLabel(server.label, 40);
  switch (server.standing) {
    case 'there':
      if (wording.action === 'delete') return `${label} is gone.`;
      return `${label} is ${stateOf(server)}${secondsWords(server, wording)}.`;
    case 'gone':
      return `${label} is no longer in the hosting account.`;
    case 'superseded':
      return supersededWords(server, label);
    case 'unknown':
      return `${label} · ${LOST}`;
    case 'waiting':
      if (wording.after !== undefined) return lateWords(server, wording, `${label} is`);
      return `${label} is ${stateOf(server)}.`;
  }
}

const LOST = 'The hosting account was reconnected, so we can no longer follow this action.';

function thereWords(server: FollowedServer, wording: FollowWording): string {
  switch (wording.action) {
    case 'create':
      return sshWords(server);
    case 'renew':
      return server.paidUntil === undefined ? '' : ` until ${slackDate(server.paidUntil)}`;
    case 'delete':
      return '. It’s no longer in the hosting account.';
    default:
      return `: ${stateOf(server)}${secondsWords(server, wording)}`;
  }
}

function sshWords({ ipv4 = '' }: FollowedServer): string {
  if (isPlainAddress(ipv4)) return `. Ready: \`ssh root@${ipv4}\``;
  return `. Its address: ${codeLabel(ipv4, 60)}`;
}

/** The time counts as a duration only if the app saw the server change; otherwise it is just what the API reports. */
function secondsWords({ settledMs, hasChanged }: FollowedServer, { isMeasured }: FollowWording): string {
  const seconds = `${Math.max(1, Math.round((settledMs ?? 0) / 1000))} s`;
  const isTimed = isMeasured && settledMs !== undefined;
  if (hasChanged) return isTimed ? ` (${seconds})` : '';
  return isTimed ? ` (change not observed, ${seconds})` : ' (change not observed)';
}

function supersededWords({ superseded }: FollowedServer, it = 'it'): string {
  if (!superseded) return `Something else has been done to ${it} since.`;
  return `${mention(superseded.by)} has ${pastOf(superseded.action)} ${it} since.`;
}

function lateStart(server: FollowedServer, label: string, { action }: FollowWording): string {
  const { past, present } = ACTS[action];
  const isDone = !isPower(action) || isReported(server, action);
  return `${isDone ? past : `is ${present}`} ${label}.`;
}

/** Says what is missing after the wait. `name`: "It's" where the sentence before has named the server. */
function lateWords(server: FollowedServer, { action, after = '' }: FollowWording, name: string): string {
  const inVain = after === '' ? '' : ` after ${after}`;
  const isNamed = name === 'It’s';
  const label = codeLabel(server.label, 40);
  if (action === 'renew')
    return `The list of servers doesn’t show the new date${isNamed ? '' : ` of ${label}`}${inVain}.`;
  const whose = isNamed ? 'its state' : `the state of ${label}`;
  if (server.state === undefined) return `The hosting API hasn’t reported ${whose}${inVain}.`;
  return `${name} still ${action === 'delete' ? 'listed as ' : ''}${stateOf(server)}${inVain}.`;
}

/** Says what to do once the app has stopped waiting. */
function lateStep(action: FollowedAction, isAlone: boolean): string {
  const check = 'Check the hosting account’s page';
  if (!isPower(action)) return `${check}.`;
  return isAlone
    ? `${check}, or try again.`
    : `${check}, or run the command again for the ones that aren’t done.`;
}

function stateOf({ state = '' }: FollowedServer): string {
  return stateWords({ state });
}

/** More servers than this are only counted in the sentence; the list below names them. */
const MOST_NAMED = 6;

/** "stopped `web-1`, `web-2` and is stopping `db-1`…": only servers in the target state are called done. */
export function severalActWords(servers: readonly FollowedServer[], action: FollowedAction): string {
  const { past, present } = ACTS[action];
  const { there, underway } = splitDone(servers, action);
  const parts = [there && `${past} ${there}`, underway && `is ${present} ${underway}…`];
  return parts.filter((part) => part !== '').join(' and ');
}

/** The same for the actor alone: "Stopping 20 servers…" */
export function severalAnswer(servers: readonly FollowedServer[], action: FollowedAction): string {
  const { past, present } = ACTS[action];
  const { there, underway } = splitDone(servers, action);
  if (underway === '') return `You ${past} ${there}.`;
  const begun = `${present} ${underway}…`;
  return there === '' ? capital(begun) : `You ${past} ${there} and are ${begun}`;
}

/** Names the servers in the target state, and the others. */
function splitDone(servers: readonly FollowedServer[], action: FollowedAction) {
  const labelsOf = (some: readonly FollowedServer[]) =>
    some.length > MOST_NAMED
      ? count(some.length, 'server')
      : some.map(({ label }) => codeLabel(label, 40)).join(', ');
  const isDone = (server: FollowedServer) => server.standing === 'there' || isReported(server, action);
  return {
    there: labelsOf(servers.filter(isDone)),
    underway: labelsOf(servers.filter((server) => !isDone(server))),
  };
}

/** A section takes 3,000 characters, and each of a label's 40 may be five when it is escaped. */
const IN_A_SECTION = 7;

/** Lists the state of several servers, one per line. */
export function followedLines(servers: readonly FollowedServer[], wording: FollowWording): KnownBlock[] {
  return sectionsOf(
    servers.map((server) => serverWords(server, wording)),
    IN_A_SECTION,
  );
}

/** Renders the channel's message about a followed action, which replaces the earlier one. */
export function followedMessage(act: FollowedAct): Message {
  const wording = wordingOf(act);
  const whose = { by: act.actorId, approvedBy: act.approvedBy };
  return actMessage(act, wording, ...nextBlocks(act, wording, whose));
}

/** Renders an action and its servers for a channel, with the given blocks below. */
function actMessage(
  { actorId, action, servers, approvedBy }: ShownAct,
  wording: FollowWording,
  ...more: KnownBlock[]
): Message {
  const [only, ...others] = servers;
  const words =
    only && others.length === 0 ? actWords(only, wording, approvedBy) : severalActWords(servers, action);
  const lines = others.length > 0 ? followedLines(servers, wording) : [];
  return textMessage(`${nameActor(actorId)} ${words}`, ...lines, ...more);
}

/** Renders the message to the actor, for when no channel has one. */
export function followedAnswer(act: FollowedAct): Message {
  const wording = wordingOf(act);
  const { action, servers } = act;
  const [first] = servers;
  if (action === 'create' && first?.standing === 'there') return newServerMessage(first);
  return answerMessage(severalAnswer(servers, action), servers, wording, nextBlocks(act, wording, {}));
}

/** Says how servers are, to one user: in a sentence for one, in lines below the title for several. */
function answerMessage(
  title: string,
  servers: readonly FollowedServer[],
  wording: FollowWording,
  more: readonly KnownBlock[],
): Message {
  const [only, ...others] = servers;
  if (only && others.length === 0) return textMessage(serverWords(only, wording), ...more);
  return textMessage(title, ...followedLines(servers, wording), ...more);
}

function newServerMessage({ serverId: id, label, state = '', ipv4 = '' }: FollowedServer): Message {
  const address = isPlainAddress(ipv4)
    ? `Log in with \`ssh root@${ipv4}\``
    : `Its address is ${codeTyped(ipv4)}.`;
  const words = `${codeLabel(label)} is ${stateWords({ state })}. ${address}`;
  return textMessage(words, actions(showButton.element('Show server', { id })));
}

function wordingOf(act: FollowedAct): FollowWording {
  const isLate = act.passedMs >= FOLLOW_MS;
  return {
    action: act.action,
    isMeasured: act.isMeasured,
    after: isLate ? `${Math.floor(FOLLOW_MS / MINUTE_MS)} min` : undefined,
  };
}

/** Offers a check of servers that have not settled. Only a power action can be tried again, never an order or a deletion. */
function nextBlocks({ action, servers }: FollowedAct, { after }: FollowWording, whose: Whose): KnownBlock[] {
  const waiting = servers.filter(({ standing }) => standing === 'waiting');
  const [only] = waiting;
  if (after === undefined || !only) return [];
  const isAlone = servers.length === 1;
  const again = isAlone && isPower(action) ? [againElement(action, only)] : [];
  return [context(lateStep(action, isAlone)), actions(checkElement(action, waiting, whose), ...again)];
}

/** The actor and the approver, for a channel's message; `by` is absent in a message to the actor alone. */
interface Whose {
  readonly by?: string | undefined;
  readonly approvedBy?: string | undefined;
}

/** The **Check state** button. Labels are shortened, so that all servers fit into its value. */
export function checkElement(
  action: FollowedAction,
  servers: readonly { readonly serverId: ServerId; readonly label: string; readonly paidUntil?: number }[],
  { by, approvedBy, isFailed }: Whose & { readonly isFailed?: true | undefined },
) {
  const listed = servers.map(({ serverId: id, label, paidUntil: until }) => ({
    id,
    label: plainLabel(label, 40),
    until,
  }));
  return checkButton.element('Check state', { act: action, servers: listed, by, approvedBy, isFailed });
}

/** The **Try again** button of a power action. Whoever presses it acts in their own name, and confirms first. */
function againElement(action: PowerAction, { serverId: id, label }: FollowedServer) {
  return powerButton[action].element('Try again', { id }, { confirm: confirmPower(action, [{ label }]) });
}

/** Reads the current state of servers after an action, with one new request. @throws Refusal `role_needed`; HostingError */
const checkServers = defineUseCase({
  name: 'show',
  needs: 'viewer',
  effect: 'reads',
  run: async (
    { action, servers }: { readonly action: FollowedAction; readonly servers: readonly FollowedServer[] },
    context,
  ): Promise<readonly FollowedServer[]> => {
    const hosting = await context.hosting();
    const list = await hosting.fetchServers({ freshness: 'fresh' });
    const checked: FollowedServer[] = [];
    for (const server of servers) {
      const found = list.servers.find(({ id }) => id === server.serverId);
      const label = found?.label ?? server.label;
      // Whoever presses the button has read the earlier label, not the one that the server may have by now.
      await context.requireRoleFor(label, server.label);
      const seen = { found, isComplete: list.extent === 'whole' };
      checked.push(lookAt({ ...server, label }, action, seen, FOLLOW_MS));
    }
    return checked;
  },
});

/**
 * Replaces the message with the current state, for users who may see the servers. Only its user sees it if
 * announcements in the channel are off by now, or other organizations may read it.
 */
export const checkState = checkButton.on(async (pressed, request) => {
  const servers = pressed.servers.map(
    ({ id: serverId, label, until: paidUntil }): FollowedServer => ({
      serverId,
      label,
      paidUntil,
      standing: 'waiting',
      hasChanged: false,
    }),
  );
  const checked = await request.execute(checkServers, { action: pressed.act, servers });
  const isHidden = pressed.by !== undefined && !(await request.mayAnnounce());
  if (!isHidden)
    return request.reply.replace(checkedMessage(pressed, checked, request)).then(() => undefined);
  await request.reply.send(
    checkedMessage({ ...pressed, by: undefined, approvedBy: undefined }, checked, request),
  );
});

/** Renders the servers of a pressed **Check state** button with their current state, and who checked it. */
export function checkedMessage(
  pressed: Checked,
  servers: readonly FollowedServer[],
  { caller, now }: { readonly caller: SlackRequest['caller']; now(): number },
): Message {
  const { act: action, by, approvedBy } = pressed;
  const wording: FollowWording = { action, isMeasured: false, after: '' };
  const more = [
    context(`Checked by ${mention(caller.actor.userId)}, ${slackDate(now())}`),
    ...checkBlocks(pressed, servers),
  ];
  if (by !== undefined) return actMessage({ action, actorId: by, servers, approvedBy }, wording, ...more);
  return answerMessage(`*${count(servers.length, 'server')}*`, servers, wording, more);
}

/** Offers another check and, for one power action, another try. A failed act is offered again whatever the state is. */
function checkBlocks({ act: action, by, approvedBy, isFailed }: Checked, servers: readonly FollowedServer[]) {
  const waiting = isFailed ? servers : servers.filter(({ standing }) => standing === 'waiting');
  const [only, ...others] = waiting;
  if (!only) return [];
  const again =
    isPower(action) && others.length === 0 && only.standing !== 'gone' ? [againElement(action, only)] : [];
  return [actions(checkElement(action, waiting, { by, approvedBy, isFailed }), ...again)];
}

const FAILED = { kind: 'later', afterMs: 15_000 } as const;

/** Reports how servers end up: in the channel's message, or to the actor alone. No method throws. */
export function createFollowNotifier({ outbox, log }: NotifierParts) {
  return {
    /** Shows the act's current state in the channel's message. */
    update: (act: FollowedAct): Promise<Updated> =>
      notifySafely<Updated>(act.id, log, FAILED, async () => {
        const { workspaceId, message, thread, servers } = act;
        if (!message) return { kind: 'gone' };
        const updated = await outbox.editAnnouncement(workspaceId, message, followedMessage(act));
        const isDone = servers.every(({ standing }) => standing === 'there');
        // What another user has done to a server since then says nothing about this act.
        const isEnded = isOver(act) && servers.every(({ standing }) => standing !== 'superseded');
        if (updated.kind === 'shown' && thread && isPower(act.action) && isEnded)
          await outbox.react(workspaceId, { channelId: message.channelId, ts: thread.ts }, isDone);
        return updated;
      }),
    /** Reports the outcome to the actor alone. False if Slack accepted no message. */
    notifyActor: (act: FollowedAct): Promise<boolean> =>
      notifySafely(act.id, log, false, () => outbox.notifyConfirmer(confirmerOf(act), followedAnswer(act))),
    /**
     * Says how to log in to a new server, where its creator sees its root password: in a message that only they see and that a
     * reload removes. False if Slack didn't accept it.
     */
    notifyCreator: (act: FollowedAct): Promise<boolean> =>
      notifySafely(act.id, log, false, () => outbox.replyTo(confirmerOf(act)).send(followedAnswer(act))),
  };
}
