import { choicesOf } from '../core/errors.ts';
import type { Server } from '../core/server.ts';
import { actions, context, LIMITS, type Message, textMessage } from '../slack/kit/blocks.ts';
import { defineChoice } from '../slack/kit/button.ts';
import type { Suggestions } from '../slack/kit/command.ts';
import { serverOption } from '../slack/kit/fields.ts';
import type { SlackRequest } from '../slack/request.ts';
import { chooseServer, type ServerRef } from './find.ts';
import { confirmationOf } from './power-words.ts';

/** The menus that ask for a server, one for each command. */
export const pickChoice = {
  show: defineChoice('pick_show'),
  start: defineChoice('pick_start'),
  stop: defineChoice('pick_stop'),
  reboot: defineChoice('pick_reboot'),
  password: defineChoice('pick_password'),
} as const;
type Verb = keyof typeof pickChoice;

/** Slack allows 100 choices, but not that many with long labels fit into one message. */
const MENU_MOST = 60;

/** Runs the work on the named server. Without a name, or if several servers match, asks with a menu and runs nothing. */
export async function offerServers(
  verb: Exclude<Verb, 'password'>,
  ref: { readonly typed: string },
  request: SlackRequest,
  work: (ref: ServerRef) => Promise<void>,
): Promise<void> {
  if (ref.typed === '') {
    const servers = await request.execute(chooseServer[verb], {});
    await request.reply.send(chooseMessage(verb, servers));
    return;
  }
  await offerMatches(verb, request, () => work(ref));
}

/** Runs the work. If it refuses because several servers match, asks with a menu. @throws every other error of the work */
export async function offerMatches(
  verb: Verb,
  request: SlackRequest,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const choices = choicesOf(error);
    if (choices.length === 0) throw error;
    await request.reply.send(pickMessage(verb, request.explain(error), choices));
  }
}

/** Lists the servers for a form's picker; undefined if the input names a server. */
export async function chooseUnnamed(
  verb: keyof typeof chooseServer,
  input: ServerRef | { readonly filter: string },
  request: SlackRequest,
): Promise<readonly Server[] | undefined> {
  if ('filter' in input) return request.execute(chooseServer[verb], input);
  const isUnnamed = 'typed' in input && input.typed === '';
  return isUnnamed ? request.execute(chooseServer[verb], {}) : undefined;
}

/** Lists a menu's choices while the user types, where there are too many for one menu. */
export function chooseSuggestions(verb: Exclude<Verb, 'password'>): Suggestions {
  return {
    id: pickChoice[verb].id,
    find: async (filter, request) =>
      (await request.execute(chooseServer[verb], { filter })).slice(0, LIMITS.options).map(serverOption),
  };
}

const QUESTIONS: Readonly<Record<Verb, string>> = {
  show: 'Show which server?',
  start: 'Start which server?',
  stop: 'Stop which server?',
  reboot: 'Reboot which server?',
  password: 'Show the root password of which server?',
};

/** Asks for a server where none was named. */
export function chooseMessage(verb: Verb, servers: readonly Server[]): Message {
  if (servers.length === 0) return textMessage('There are no servers to choose from.');
  if (servers.length <= MENU_MOST || verb === 'password') return pickMessage(verb, QUESTIONS[verb], servers);
  return textMessage(
    QUESTIONS[verb],
    actions(pickChoice[verb].typeAhead('Type to search', confirmationOf(verb))),
  );
}

/** Asks which of these servers was meant. */
export function pickMessage(verb: Verb, words: string, servers: readonly Server[]): Message {
  const offered = servers.slice(0, MENU_MOST);
  const menu = pickChoice[verb].menu('Choose a server', offered.map(serverOption), confirmationOf(verb));
  const note = `Showing the first ${offered.length}. Type more of the label or ID to narrow the list.`;
  return textMessage(words, actions(menu), ...(offered.length < servers.length ? [context(note)] : []));
}
