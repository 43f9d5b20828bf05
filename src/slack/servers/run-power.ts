import { changePower, type PowerChange } from '../../app/servers/change-power.ts';
import type { ServerRef } from '../../app/servers/find-server.ts';
import { showServer } from '../../app/servers/show-server.ts';
import { watchServer } from '../../app/servers/watch-server.ts';
import type { PowerAction } from '../../domain/server.ts';
import { type Message, textMessage } from '../kit/blocks.ts';
import type { SlackRequest } from '../transport/request.ts';
import { sendWaiting } from '../transport/waiting.ts';
import { announcedWords, answerWords, isThere, unconfirmedMessage } from './power-words.ts';
import { serverCard } from './server-card.ts';

interface Options {
  readonly isSure?: boolean;
  /** The button stands on the server's card, which then shows the outcome. */
  readonly isOnCard?: boolean;
}

/** Changes the power of one server, and tells the channel. The background tells how it ends. */
export async function runPower(
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
  const announced = await request.announce(announcedWords(action, change));
  if (isOnCard) await updateCard(change, request);
  else if (!announced) await request.reply.send(textMessage(answerWords(action, change)));
  const { actId } = change;
  if (actId === undefined) return;
  if (announced || !isOnCard) await request.placeAct(actId, announced);
  if (!isOnCard) return;
  const isShown = await followOnCard(action, change, request);
  if (!announced) await request.placeAct(actId, isShown ? 'told' : undefined);
}

/** The card belongs to this request: it shows the outcome if that is seen within two minutes, and can be refreshed later. */
async function followOnCard(
  action: PowerAction,
  change: PowerChange,
  request: SlackRequest,
): Promise<boolean> {
  if (isThere(action, change)) return true;
  const { isThere: isSeen } = await request.execute(watchServer, { id: change.server.id, action });
  return (await request.reply.edit(await loadCard(change, request))) && isSeen;
}

async function updateCard(change: PowerChange, request: SlackRequest): Promise<void> {
  await request.reply.replace(await loadCard(change, request));
}

async function loadCard({ server }: PowerChange, request: SlackRequest): Promise<Message> {
  return serverCard(await request.execute(showServer, { ref: { id: server.id } }), request.now());
}
