import type { ConfirmationDialog } from '@slack/types';
import { Refusal } from '../../domain/errors.ts';
import type { Server } from '../../domain/server.ts';
import { actions, confirmation, context, type Message, textMessage } from '../kit/blocks.ts';
import { defineChoice } from '../kit/button.ts';
import type { SlackRequest } from '../transport/request.ts';
import { serverOption } from './server-option.ts';

/** The menus that ask which of several servers was meant, one for each verb that is typed. */
export const pickChoice = {
  show: defineChoice('pick_show'),
  start: defineChoice('pick_start'),
  stop: defineChoice('pick_stop'),
  reboot: defineChoice('pick_reboot'),
  password: defineChoice('pick_password'),
} as const;

/** Slack takes 100 choices, but not so many of the longest ones in one message. */
const MENU_MOST = 60;

/** Runs the work; when a name fits several servers, nothing is done and a menu asks which one was meant. */
export async function offerServers(
  verb: keyof typeof pickChoice,
  request: SlackRequest,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'ambiguous_server') throw error;
    const { servers } = (error as Refusal<'ambiguous_server'>).details;
    await request.reply.send(pickMessage(verb, request.explain(error), servers));
  }
}

/** Asks which of these servers was meant. */
export function pickMessage(
  verb: keyof typeof pickChoice,
  words: string,
  servers: readonly Server[],
): Message {
  const offered = servers.slice(0, MENU_MOST);
  const menu = pickChoice[verb].menu('Choose a server', offered.map(serverOption), askFirst(verb));
  const note = `These are the first ${offered.length}: for another one, type more of its label, or its id.`;
  return textMessage(words, actions(menu), ...(offered.length < servers.length ? [context(note)] : []));
}

/** A choice in a menu is made by accident as easily as a button is pressed. */
function askFirst(verb: keyof typeof pickChoice): ConfirmationDialog | undefined {
  if (verb !== 'stop' && verb !== 'reboot') return undefined;
  const deed = verb === 'stop' ? 'Stop' : 'Reboot';
  const title = `${deed} this server?`;
  return confirmation({ title, text: 'It happens at once.', confirm: deed, isDangerous: true });
}
