import type { ActionsBlock, KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { ServerId } from '../core/ids.ts';
import type { Server } from '../core/server.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time.ts';
import { actions, context, section } from '../slack/kit/blocks.ts';
import { defineButton, defineChoice } from '../slack/kit/button.ts';
import { defineCommand, parseServerName, type Shortcut } from '../slack/kit/command.ts';
import type { Origin } from '../slack/kit/form.ts';
import { cardView } from '../slack/kit/home-view.ts';
import { sendWaiting } from '../slack/kit/notify.ts';
import { count, plainLabel } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { showButton } from './buttons.ts';
import { loadCard, type ServerCard, serverCard, showServer } from './card.ts';
import { chooseServer, findMentioned, offerServers, pickChoice, suggestServers } from './find.ts';
import { collectParts } from './mentioned.ts';
import { checkState } from './power.ts';
import { serverLine } from './words.ts';

const matchButton = defineButton('manage_match', z.object({ id: z.number().int() }));
/** Finds any server by typing, in the modal of a shortcut. */
const findChoice = defineChoice('find_server');
/** The choices of the menu **Find another server**. */
export const findSuggestions = suggestServers(findChoice.id, chooseServer.show);

export const show = defineCommand({
  name: 'show',
  usage: 'show [server]',
  example: 'show web-1',
  summary: 'Show a server with its buttons',
  needs: 'viewer',
  parse: parseServerName,
  run: (input, request) =>
    offerServers('show', input, request, async (ref) => {
      await request.reply.send(await loadCard({ ref, onWait: sendWaiting(request) }, request));
    }),
  actions: [
    showButton.on(({ id, on }, request) =>
      on ? showInCard(id, request, { isFresh: true }) : showById(id, request),
    ),
    pickChoice.show.on((id, request) => showById(Number(id), request)),
    matchButton.on(({ id }, request) => showInCard(id, request)),
    findChoice.on((id, request) => showInCard(Number(id), request)),
    checkState,
  ],
  suggestions: [suggestServers(pickChoice.show.id, chooseServer.show), findSuggestions],
});

export async function showById(id: ServerId, request: SlackRequest): Promise<void> {
  await request.reply.send(await loadCard({ ref: { id } }, request));
}

/** Answers a button or a menu on a card, or in the modal of a shortcut, with the server's card in its place. */
async function showInCard(
  id: ServerId,
  request: SlackRequest,
  { isFresh } = { isFresh: false },
): Promise<void> {
  await request.reply.replace(await loadCard({ ref: { id }, isFresh }, request));
}

/** The shortcut on a message: shows the server that it mentions, or a choice. Never acts by itself (docs/design.md 2.9). */
const manageServer: Shortcut = {
  id: 'manage_server',
  type: 'message',
  name: 'Manage server…',
  title: 'Manage server',
  needs: findMentioned,
  load: async (message, request, origin) => {
    const { servers, isOnly } = await request.execute(findMentioned, { parts: collectParts(message) });
    const now = request.now();
    const age = describeAge(message, now);
    const [only] = servers;
    if (!only || servers.length > 1) return matchesView(servers, age, origin, now);
    const card = await request.execute(showServer, { ref: { id: only.id } });
    // An older alert may be over: its card asks as every card does.
    const isRecent = (findAge(message, now) ?? HOUR_MS) < HOUR_MS;
    return mentionedView(card, age, origin, now, isOnly && isRecent);
  },
};

/** The global shortcut: finds a server, recently used ones first. */
const findServer: Shortcut = {
  id: 'servers',
  type: 'global',
  name: 'Servers',
  title: 'Servers',
  needs: chooseServer.show,
  load: async (_message, request, origin) =>
    findView(await request.execute(chooseServer.show, {}), origin, request.now()),
};

/** The app's shortcuts, as the manifest lists them. */
export const shortcuts: readonly Shortcut[] = [manageServer, findServer];

export const MANAGE_TITLE = 'Manage server';

/** Mentioned servers shown; more are found by typing. */
const MATCHES_SHOWN = 10;
const RECENT_SHOWN = 5;

/** Renders a server's card in a modal. `age`: a sentence about the age of the message that mentions it, if any. */
export function mentionedView(
  card: ServerCard,
  age: string | undefined,
  origin: Origin,
  now: number,
  isAsked = false,
): ModalView {
  const { blocks } = serverCard(card, now, isAsked);
  return cardView(MANAGE_TITLE, origin, { blocks, kept: [...aged(age), finder()] });
}

/** Renders the servers that a message mentions, to choose one. Without any, offers to find one. */
export function matchesView(
  servers: readonly Server[],
  age: string | undefined,
  origin: Origin,
  now: number,
): ModalView {
  const words =
    servers.length === 0
      ? 'No server found in this message. Find one by its label, ID or IPv4 address:'
      : `This message mentions ${count(servers.length, 'server')}. Which one?`;
  const rest = servers.length - MATCHES_SHOWN;
  const blocks = [
    section(words),
    ...lines(servers.slice(0, MATCHES_SHOWN), now),
    ...(rest > 0 ? [context(`${count(rest, 'more server')}: type to find them.`)] : []),
  ];
  return cardView(MANAGE_TITLE, origin, { blocks, kept: [finder(), ...aged(age)] });
}

/** Renders the first servers of a list, and a menu to find any other. */
export function findView(servers: readonly Server[], origin: Origin, now: number): ModalView {
  if (servers.length === 0)
    return cardView('Servers', origin, { blocks: [section('There are no servers to choose from.')] });
  const blocks = [section('Which server?'), ...lines(servers.slice(0, RECENT_SHOWN), now)];
  return cardView('Servers', origin, { blocks, kept: [finder()] });
}

function lines(servers: readonly Server[], now: number): KnownBlock[] {
  return servers.map((server) => {
    const label = `Manage ${plainLabel(server.label, 60)}`;
    return section(serverLine(server, now), matchButton.element('Manage', { id: server.id }, { label }));
  });
}

function finder(): ActionsBlock {
  return actions(findChoice.typeAhead('Find another server'));
}

function aged(age: string | undefined): KnownBlock[] {
  return age === undefined ? [] : [context(age)];
}

const sentMessage = z.object({ ts: z.string().regex(/^\d{1,12}\.\d+$/) });

/** The age of a message in milliseconds; undefined if it has no time. */
function findAge(message: unknown, now: number): number | undefined {
  const ts = sentMessage.safeParse(message).data?.ts;
  return ts === undefined ? undefined : now - Number(ts) * 1000;
}

/** Says how old a message is, since an alert may have been handled hours ago. Undefined if the message has no time. */
export function describeAge(message: unknown, now: number): string | undefined {
  const ms = findAge(message, now);
  if (ms === undefined) return undefined;
  if (ms < MINUTE_MS) return 'The message is less than a minute old.';
  if (ms < HOUR_MS) return `The message is ${Math.floor(ms / MINUTE_MS)} min old.`;
  const [amount, unit] = ms < 2 * DAY_MS ? [ms / HOUR_MS, 'h'] : [ms / DAY_MS, 'days'];
  return `:warning: The message is ${Math.floor(amount)} ${unit} old.`;
}
