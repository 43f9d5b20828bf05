import { changePower, type PowerChange } from '../../app/servers/change-power.ts';
import type { ServerRef } from '../../app/servers/find-server.ts';
import { showServer } from '../../app/servers/show-server.ts';
import { watchServer } from '../../app/servers/watch-server.ts';
import type { PowerAction } from '../../domain/server.ts';
import { type Message, textMessage } from '../kit/blocks.ts';
import type { SlackRequest } from '../transport/request.ts';
import { sendWaiting } from '../transport/waiting.ts';
import {
  announcedWords,
  answerWords,
  isThere,
  unconfirmedMessage,
  watchedAnswer,
  watchedWords,
} from './power-words.ts';
import { serverCard } from './server-card.ts';

interface Options {
  readonly isSure?: boolean;
  /** The button stands on the server's card, which then shows the outcome. */
  readonly isOnCard?: boolean;
}

/** Changes the power of one server, tells the channel, and follows it until it is where the action leads. */
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
  if (!isThere(action, change)) await followPower(action, change, request, { announced, isOnCard });
}

/** Tells the outcome once it is seen: in the channel's message where that can be edited, otherwise to the user. */
async function followPower(
  action: PowerAction,
  change: PowerChange,
  request: SlackRequest,
  { announced, isOnCard }: Pick<Required<Options>, 'isOnCard'> & Announced,
): Promise<void> {
  const watched = await request.execute(watchServer, { id: change.server.id, action });
  const isEdited = await announced?.edit(watchedWords(action, change, watched));
  const isShown = isOnCard && (await request.reply.edit(await loadCard(change, request)));
  if (!isEdited && !isShown) await request.reply.send(textMessage(watchedAnswer(change, watched)));
}

interface Announced {
  readonly announced: Awaited<ReturnType<SlackRequest['announce']>>;
}

async function updateCard(change: PowerChange, request: SlackRequest): Promise<void> {
  await request.reply.replace(await loadCard(change, request));
}

async function loadCard({ server }: PowerChange, request: SlackRequest): Promise<Message> {
  return serverCard(await request.execute(showServer, { ref: { id: server.id } }), request.now());
}
