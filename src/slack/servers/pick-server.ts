import type { ConfirmationDialog } from '@slack/types';
import { isRefusal } from '../../domain/errors.ts';
import type { Server } from '../../domain/server.ts';
import { actions, confirmation, context, type Message, textMessage } from '../kit/blocks.ts';
import { defineChoice } from '../kit/button.ts';
import { serverOption } from '../kit/server-option.ts';
import type { SlackRequest } from '../transport/request.ts';

/** The menus that ask which of several servers is meant, one for each command. */
export const pickChoice = {
  show: defineChoice('pick_show'),
  start: defineChoice('pick_start'),
  stop: defineChoice('pick_stop'),
  reboot: defineChoice('pick_reboot'),
  password: defineChoice('pick_password'),
} as const;

/** Slack allows 100 choices, but fewer of the longest ones fit into one message. */
const MENU_MOST = 60;

/** Runs the work; when a name matches several servers, nothing is done and a menu asks which one is meant. */
export async function offerServers(
  verb: keyof typeof pickChoice,
  request: SlackRequest,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isRefusal(error, 'ambiguous_server')) throw error;
    await request.reply.send(pickMessage(verb, request.explain(error), error.details.servers));
  }
}

/** Asks which of these servers was meant. */
export function pickMessage(
  verb: keyof typeof pickChoice,
  words: string,
  servers: readonly Server[],
): Message {
  const offered = servers.slice(0, MENU_MOST);
  const menu = pickChoice[verb].menu('Choose a server', offered.map(serverOption), confirmationOf(verb));
  const note = `These are the first ${offered.length}: for another one, type more of its label, or its id.`;
  return textMessage(words, actions(menu), ...(offered.length < servers.length ? [context(note)] : []));
}

/** A menu is as easily touched by accident as a button. */
function confirmationOf(verb: keyof typeof pickChoice): ConfirmationDialog | undefined {
  if (verb !== 'stop' && verb !== 'reboot') return undefined;
  const action = verb === 'stop' ? 'Stop' : 'Reboot';
  const title = `${action} this server?`;
  return confirmation({ title, text: 'It happens at once.', confirm: action, isDangerous: true });
}
