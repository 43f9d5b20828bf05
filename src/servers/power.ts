import { isExpected } from '../core/errors.ts';
import { isPattern } from '../core/find-server.ts';
import type { PowerAction } from '../core/server.ts';
import { section, textMessage } from '../slack/kit/blocks.ts';
import { type Command, defineCommand } from '../slack/kit/command.ts';
import { sendWaiting } from '../slack/reply.ts';
import type { SlackRequest } from '../slack/request.ts';
import { powerButton, severalButton } from './buttons.ts';
import { loadCard, showServer } from './card.ts';
import {
  announcedWords,
  answerWords,
  changePower,
  type PowerChange,
  unconfirmedMessage,
  watchServer,
} from './change-power.ts';
import {
  chooseServer,
  offerMatches,
  offerServers,
  pickChoice,
  type ServerRef,
  suggestServers,
} from './find.ts';
import { serverWords } from './follow-words.ts';
import { MOST_AT_ONCE, runConfirmed, runSeveral, selectionMessage, selectServers } from './several.ts';

export const start = definePowerCommand('start', 'Start servers', 'start web-1');
export const stop = definePowerCommand('stop', 'Stop servers (no refund)', 'stop web-1 web-2');
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

/** Acts on one server and announces it. On a card and on Home, the outcome is shown there; otherwise the background reports it. */
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
  const isOnScreen = isOnCard || request.home !== undefined;
  const announced = await request.announce(announcedWords(action, change));
  let isShown = true;
  if (!announced && !isOnCard) isShown = await request.reply.send(textMessage(answerWords(action, change)));
  // Before the card is read, which can fail: the announcement says how it ends in any case.
  if (actId !== undefined && (announced || !isOnScreen)) await request.placeAct(actId, announced);
  if (isOnCard) {
    try {
      await updateCard(change, request);
    } catch (error) {
      if (!isExpected(error)) throw error;
      // It was accepted, whatever becomes of the card.
      await request.reply.send(textMessage(answerWords(action, change)));
      if (actId !== undefined && !announced) await request.placeAct(actId, undefined);
      return;
    }
  }
  if (isOnScreen && actId !== undefined) {
    isShown = await followOnScreen(action, change, request);
    if (!announced) await request.placeAct(actId, isShown ? 'told' : undefined);
  }
  // Last: a slow reaction must not delay what says more.
  if (actId === undefined) await request.reactDone(announced);
}

/** Waits up to two minutes for the outcome, and shows it on the card or on Home. True if the user sees it there. */
async function followOnScreen(
  action: PowerAction,
  change: PowerChange,
  request: SlackRequest,
): Promise<boolean> {
  const { id } = change.server;
  const { server: seen } = await request.execute(watchServer, { action, change });
  const hasSettled = seen.standing === 'there';
  if (!request.home)
    return (await request.reply.edit(await loadCard({ ref: { id } }, request))) && hasSettled;
  if (!hasSettled) return false;
  // The role may have ended during the watch.
  const { label, state } = (await request.execute(showServer, { ref: { id } })).server;
  const words = serverWords({ ...seen, label, state }, { action, isMeasured: true });
  return request.home.show({ notices: [section(words)] });
}

async function updateCard({ server: { id } }: PowerChange, request: SlackRequest): Promise<void> {
  await request.reply.replace(await loadCard({ ref: { id } }, request));
}
