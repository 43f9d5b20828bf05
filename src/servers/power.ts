import { isPattern } from '../core/find-server.ts';
import type { PowerAction } from '../core/server.ts';
import { actions, context, type Message, textMessage } from '../slack/kit/blocks.ts';
import { type Command, defineCommand } from '../slack/kit/command.ts';
import { sendWaiting } from '../slack/kit/notify.ts';
import { count, mention, slackDate } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { type Checked, checkButton, powerButton, severalButton } from './buttons.ts';
import { loadCard } from './card.ts';
import { changePower, checkServers, type PowerChange, watchServer } from './change-power.ts';
import {
  chooseServer,
  offerMatches,
  offerServers,
  pickChoice,
  type ServerRef,
  suggestServers,
} from './find.ts';
import { type FollowedServer, isPower } from './follow.ts';
import {
  actMessage,
  againElement,
  announcedWords,
  answerWords,
  checkElement,
  type FollowWording,
  isAtTarget,
  serverLines,
  serverWords,
  unconfirmedMessage,
} from './follow-words.ts';
import { MOST_AT_ONCE, selectServers } from './select.ts';
import { runConfirmed, runSeveral, selectionMessage } from './several.ts';

export const start = definePowerCommand('start', 'Start servers', 'start web-1');
export const stop = definePowerCommand('stop', 'Stop servers (billing continues)', 'stop web-1 web-2');
export const reboot = definePowerCommand('reboot', 'Reboot servers', 'reboot web-1');

function definePowerCommand(action: PowerAction, summary: string, example: string): Command {
  return defineCommand({
    name: action,
    usage: `${action} [server…]`,
    example,
    summary,
    needs: 'operator',
    parse: ({ words }) => {
      const names = [...new Set(words.flatMap((word) => word.split(',')).filter((word) => word !== ''))];
      if (names.length > MOST_AT_ONCE) return `You can ${action} up to ${MOST_AT_ONCE} servers at once.`;
      return { names, whole: words.join(' ') };
    },
    run: async ({ names, whole }, request) => {
      const [typed = ''] = names;
      if (names.length > 1 || isPattern(typed)) return runSelection(action, { names, whole }, request);
      return offerServers(action, { typed }, request, (ref) => runPower(action, ref, request));
    },
    actions: [
      powerButton[action].on((value, request) => {
        if ('typed' in value) {
          return offerServers(action, value, request, (ref) => runPower(action, ref, request));
        }
        const { id, on, sure } = value;
        return runPower(action, { id }, request, { isSure: sure === true, isOnCard: on === 'card' });
      }),
      severalButton[action].on(({ id, at, servers }, request) => {
        const refs = servers.map(([serverId, label]) => ({ id: serverId, label }));
        return runConfirmed(action, { id, at }, refs, request);
      }),
      pickChoice[action].on((id, request) => runPower(action, { id: Number(id) }, request)),
    ],
    suggestions: [suggestServers(pickChoice[action].id, chooseServer[action])],
  });
}

/** Acts on several names one after the other. What patterns match is listed first, for the user to confirm. */
async function runSelection(
  action: PowerAction,
  typed: { readonly names: readonly string[]; readonly whole: string },
  request: SlackRequest,
): Promise<void> {
  await offerMatches(action, request, async () => {
    const onWait = sendWaiting(request);
    const selection = await request.execute(selectServers[action], { ...typed, onWait });
    if (selection.kind === 'whole') return runPower(action, { id: selection.server.id }, request);
    if (selection.kind === 'names') {
      const { names, unmatched } = selection;
      const refs = names.map((name) => ({ typed: name }));
      if (refs.length + unmatched.length > 1) return runSeveral(action, refs, request, unmatched);
      const [ref = { typed: unmatched[0]?.details.typed ?? '' }] = refs;
      return offerServers(action, ref, request, (one) => runPower(action, one, request));
    }
    const message = selectionMessage(action, selection, (error) => request.explain(error));
    await request.reply.send(message);
  });
}

interface Options {
  readonly isSure?: boolean;
  /** The button stands on the server's card, which then shows the outcome. */
  readonly isOnCard?: boolean;
}

/** Acts on one server and announces it. The background reports how it ends. */
async function runPower(
  action: PowerAction,
  ref: ServerRef,
  request: SlackRequest,
  { isSure, isOnCard = false }: Options = {},
): Promise<void> {
  const onWait = sendWaiting(request);
  const change = await request.execute(changePower[action], { ref, onWait, isSure });
  if (change.isUnconfirmed) {
    await request.reply.send(unconfirmedMessage(action, change));
    if (isOnCard) await updateCard(change, request);
    return;
  }
  const { actId } = change;
  const announced = await request.announce(announcedWords(action, change));
  if (!announced && !isOnCard) await request.reply.send(textMessage(answerWords(action, change)));
  // Before the card is read, which can fail: the announcement says how it ends in any case.
  if (actId !== undefined && (announced || !isOnCard)) await request.placeAct(actId, announced);
  if (isOnCard) {
    await updateCard(change, request);
    const isShown = actId !== undefined && (await followOnCard(action, change, request));
    if (actId !== undefined && !announced) await request.placeAct(actId, isShown ? 'told' : undefined);
  }
  // Last: a slow reaction must not delay what says more.
  if (actId === undefined) await request.reactDone(announced);
}

/** Waits up to two minutes for the outcome, and shows the server's state on the card. True if the card shows the outcome. */
async function followOnCard(
  action: PowerAction,
  change: PowerChange,
  request: SlackRequest,
): Promise<boolean> {
  if (isAtTarget(action, change)) return true;
  const { id } = change.server;
  const { isAtTarget: isSeen } = await request.execute(watchServer, { id, action });
  return (await request.reply.edit(await loadCard({ ref: { id } }, request))) && isSeen;
}

async function updateCard({ server: { id } }: PowerChange, request: SlackRequest): Promise<void> {
  await request.reply.replace(await loadCard({ ref: { id } }, request));
}

/**
 * Replaces the message with the current state, for users who may see the servers. Only they see it if the message is in a channel
 * that other organizations may read by now.
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
  const message = checkedMessage(pressed, checked, request);
  const isHidden = pressed.by !== undefined && !(await request.mayAnnounce());
  await (isHidden ? request.reply.send(message) : request.reply.replace(message));
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
    ...nextBlocks(pressed, servers),
  ];
  if (by !== undefined) return actMessage({ action, actorId: by, servers, approvedBy }, wording, ...more);
  const [only, ...others] = servers;
  if (only && others.length === 0) return textMessage(serverWords(only, wording), ...more);
  return textMessage(`*${count(servers.length, 'server')}*`, ...serverLines(servers, wording), ...more);
}

/** Offers another check and, for one power action, another try. A failed act is offered again whatever the state is. */
function nextBlocks({ act: action, by, approvedBy, isFailed }: Checked, servers: readonly FollowedServer[]) {
  const waiting = isFailed ? servers : servers.filter(({ standing }) => standing === 'waiting');
  const [only, ...others] = waiting;
  if (!only) return [];
  const again =
    isPower(action) && others.length === 0 && only.standing !== 'gone' ? [againElement(action, only)] : [];
  return [actions(checkElement(action, waiting, { by, approvedBy, isFailed }), ...again)];
}
