import type { KnownBlock } from '@slack/types';
import type { UserId } from '../core/ids.ts';
import { isPlainAddress, isTargetState, type PowerAction } from '../core/server.ts';
import { MINUTE_MS } from '../core/time.ts';
import { actions, context, type Message, sectionsOf, textMessage } from '../slack/kit/blocks.ts';
import { capital, codeLabel, count, mention, nameActor, slackDate, stateWords } from '../slack/kit/text.ts';
import { type NotifierParts, notifySafely } from '../slack/outbox.ts';
import { confirmerOf } from '../slack/reply.ts';
import { VERBS } from '../words.ts';
import { confirmPower, listButton, powerButton, showButton } from './buttons.ts';
import {
  FOLLOW_MS,
  type FollowedAct,
  type FollowedAction,
  type FollowedServer,
  isOver,
  isPower,
  type Updated,
} from './follow.ts';

interface FollowWording {
  readonly action: FollowedAction;
  /** The app has measured how long the action took. */
  readonly isMeasured: boolean;
  /** The app has waited in vain, and is no longer following. */
  readonly isLate?: boolean;
}

const ACTS = {
  ...VERBS,
  create: { past: 'created', present: 'creating' },
  renew: { past: 'renewed', present: 'renewing' },
} as const;

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
      return `${begun} ${label}. Something else has been done to it since.`;
    case 'unknown':
      return `${begun} ${label}. ${LOST}`;
    case 'waiting': {
      if (wording.isLate) return `${begun} ${label}. ${lateWords(server, wording, 'It’s')}`;
      if (isReported(server, wording.action)) return `${past} ${label}: ${stateOf(server)}`;
      return isPower(wording.action) ? `is ${present} ${label}…` : `${past} ${label}`;
    }
  }
}

/** Says how one server is, with the server as the subject: "`web-1` is running." For lists, and messages to the actor alone. */
export function serverWords(server: FollowedServer, wording: FollowWording): string {
  const label = codeLabel(server.label, 40);
  switch (server.standing) {
    case 'there':
      if (wording.action === 'delete') return `${label} is gone.`;
      return `${label} is ${stateOf(server)}${secondsWords(server, wording)}.`;
    case 'gone':
      return `${label} is no longer in the hosting account.`;
    case 'superseded':
      return `Something else has been done to ${label} since.`;
    case 'unknown':
      return `${label} · ${LOST}`;
    case 'waiting':
      if (wording.isLate) return lateWords(server, wording, `${label} is`);
      return `${label} is ${stateOf(server)}.`;
  }
}

const LOST = 'The hosting account was disconnected or reconnected, so we can no longer follow this action.';

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

/** Says what is missing after the wait. `name`: "It's" where the sentence before has named the server. */
function lateWords(server: FollowedServer, { action }: FollowWording, name: string): string {
  const inVain = ` after ${Math.floor(FOLLOW_MS / MINUTE_MS)} min`;
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

/**
 * "stopped `web-1`, `web-2` and is stopping `db-1`…": only servers in the target state are called done. `isOver`: the servers are
 * no longer followed, so nothing is known to be underway.
 */
export function severalActWords(
  servers: readonly FollowedServer[],
  action: FollowedAction,
  isOver = false,
): string {
  const { past, present } = ACTS[action];
  const { there, others } = splitDone(servers, action, isOver);
  const begun = isOver ? `was ${present} ${others}.` : `is ${present} ${others}…`;
  return [there && `${past} ${there}`, others && begun].filter((part) => part !== '').join(' and ');
}

/** The same for the actor alone: "Stopping 20 servers…" */
export function severalAnswer(
  servers: readonly FollowedServer[],
  action: FollowedAction,
  isOver = false,
): string {
  const { past, present } = ACTS[action];
  const { there, others } = splitDone(servers, action, isOver);
  if (others === '') return `You ${past} ${there}.`;
  const begun = `${present} ${others}${isOver ? '.' : '…'}`;
  if (there === '') return isOver ? `You were ${begun}` : capital(begun);
  return `You ${past} ${there} and ${isOver ? 'were' : 'are'} ${begun}`;
}

/** Names the servers in the target state, and the others. */
function splitDone(servers: readonly FollowedServer[], action: FollowedAction, isOver: boolean) {
  const labelsOf = (some: readonly FollowedServer[]) =>
    some.length > MOST_NAMED
      ? count(some.length, 'server')
      : some.map(({ label }) => codeLabel(label, 40)).join(', ');
  const isDone = (server: FollowedServer) =>
    server.standing === 'there' || (server.standing === 'waiting' && !isOver && isReported(server, action));
  return {
    there: labelsOf(servers.filter(isDone)),
    others: labelsOf(servers.filter((server) => !isDone(server))),
  };
}

/** A section takes 3,000 characters, and each of a label's 40 may be five when it is escaped. */
const IN_A_SECTION = 7;

export function followedLines(servers: readonly FollowedServer[], wording: FollowWording): KnownBlock[] {
  return sectionsOf(
    servers.map((server) => serverWords(server, wording)),
    IN_A_SECTION,
  );
}

/** Renders the channel's message about a followed action, which replaces the earlier one. */
export function followedMessage(act: FollowedAct): Message {
  const wording = wordingOf(act);
  const { actorId, action, servers, approvedBy } = act;
  const [only, ...others] = servers;
  const isAlone = only && others.length === 0;
  const words = isAlone ? actWords(only, wording, approvedBy) : severalActWords(servers, action, isOver(act));
  const lines = isAlone ? [] : followedLines(servers, wording);
  return textMessage(`${nameActor(actorId)} ${words}`, ...lines, ...nextBlocks(act, wording));
}

/** Renders the message to the actor, for when no channel has one. */
export function followedAnswer(act: FollowedAct): Message {
  const wording = wordingOf(act);
  const { action, servers } = act;
  const [only, ...others] = servers;
  if (action === 'create' && only?.standing === 'there') return newServerMessage(only);
  const next = nextBlocks(act, wording);
  if (only && others.length === 0) return textMessage(serverWords(only, wording), ...next);
  return textMessage(
    severalAnswer(servers, action, isOver(act)),
    ...followedLines(servers, wording),
    ...next,
  );
}

function newServerMessage({ serverId: id, label, state = '', ipv4 = '' }: FollowedServer): Message {
  const address = isPlainAddress(ipv4)
    ? `Log in with \`ssh root@${ipv4}\``
    : `Its address is ${codeLabel(ipv4)}.`;
  const words = `${codeLabel(label)} is ${stateWords({ state })}. ${address}`;
  return textMessage(words, actions(showButton.element('Show server', { id })));
}

function wordingOf({ action, isMeasured, passedMs }: FollowedAct): FollowWording {
  return { action, isMeasured, isLate: passedMs >= FOLLOW_MS };
}

/** Offers a look at what has not settled in time. Only a power action can be tried again, never an order or a deletion. */
function nextBlocks({ action, servers }: FollowedAct, { isLate }: FollowWording): KnownBlock[] {
  const waiting = servers.find(({ standing }) => standing === 'waiting');
  if (!isLate || !waiting) return [];
  const isAlone = servers.length === 1;
  const step = context(lateStep(action, isAlone));
  if (!isAlone) return [step, actions(listButton.element('All servers', {}))];
  const show = showButton.element('Show server', { id: waiting.serverId });
  return [step, actions(show, ...(isPower(action) ? [againElement(action, waiting)] : []))];
}

/** The **Try again** button of a power action. Whoever presses it acts in their own name, and confirms first. */
function againElement(action: PowerAction, { serverId: id, label }: FollowedServer) {
  return powerButton[action].element('Try again', { id }, { confirm: confirmPower(action, [{ label }]) });
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
