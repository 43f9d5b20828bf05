import type { ActionsBlock, KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { ServerId } from '../core/ids.ts';
import type { Server } from '../core/server.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time.ts';
import { actions, context, LIMITS, section } from '../slack/kit/blocks.ts';
import type { ActionHandler } from '../slack/kit/button.ts';
import type { Shortcut, Suggestions } from '../slack/kit/command.ts';
import { serverOption } from '../slack/kit/fields.ts';
import type { Origin } from '../slack/kit/form.ts';
import { cardView } from '../slack/kit/home-view.ts';
import { count, decodeText, plainLabel } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { findChoice, matchButton } from './buttons.ts';
import { type ServerCard, serverCard, showServer } from './card.ts';
import { chooseServer, findMentioned } from './find.ts';
import type { MessagePart } from './mentioned.ts';
import { serverLine } from './words.ts';

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
    return mentionedView(card, age, origin, now, isOnly && isRecent(message, now));
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

async function showInCard(id: ServerId, request: SlackRequest): Promise<void> {
  const card = await request.execute(showServer, { ref: { id } });
  await request.reply.replace(serverCard(card, request.now()));
}

/** The buttons and the menu in the modals of the shortcuts. */
export const shortcutActions: readonly ActionHandler[] = [
  matchButton.on(({ id }, request) => showInCard(id, request)),
  findChoice.on((id, request) => showInCard(Number(id), request)),
];

/** The choices of the menu **Find another server**. */
export const findSuggestions: Suggestions = {
  id: findChoice.id,
  find: async (filter, request) =>
    (await request.execute(chooseServer.show, { filter })).slice(0, LIMITS.options).map(serverOption),
};

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

/** Says how old a message is, since an alert may have been handled hours ago. Undefined if the message has no time. */
export function describeAge(message: unknown, now: number): string | undefined {
  const ts = sentMessage.safeParse(message).data?.ts;
  if (ts === undefined) return undefined;
  const ms = now - Number(ts) * 1000;
  if (ms < MINUTE_MS) return 'The message is less than a minute old.';
  if (ms < HOUR_MS) return `The message is ${Math.floor(ms / MINUTE_MS)} min old.`;
  const [amount, unit] = ms < 2 * DAY_MS ? [ms / HOUR_MS, 'h'] : [ms / DAY_MS, 'days'];
  return `:warning: The message is ${Math.floor(amount)} ${unit} old.`;
}

/** An older alert may be over: its card asks as every card does. */
function isRecent(message: unknown, now: number): boolean {
  const ts = sentMessage.safeParse(message).data?.ts;
  return ts !== undefined && now - Number(ts) * 1000 < HOUR_MS;
}

/** What is read of one message: far more than any alert has. */
const MOST_PARTS = 2000;
const MOST_CHARACTERS = 60_000;
const MOST_DEPTH = 12;

type Json = Readonly<Record<string, unknown>>;

/**
 * Collects the text of a message from everywhere that alert tools put it: its text, its blocks, and the fields and blocks of its
 * attachments. Addresses of links are separate parts, at the end, since they may be the monitoring system's.
 */
export function collectParts(message: unknown): readonly MessagePart[] {
  const collector = createCollector();
  if (isJson(message)) collectMessage(message, collector, 0);
  return collector.parts();
}

interface Collector {
  /** Adds text in Slack's markup. */
  add(text: unknown): void;
  addUrl(url: unknown): void;
  isFull(): boolean;
  parts(): readonly MessagePart[];
}

function createCollector(): Collector {
  const texts: MessagePart[] = [];
  const urls: MessagePart[] = [];
  let characters = 0;
  const isFull = () => texts.length + urls.length >= MOST_PARTS || characters >= MOST_CHARACTERS;
  const push = (list: MessagePart[], text: string, isUrl: boolean) => {
    if (text.trim() === '' || isFull()) return;
    const kept = text.slice(0, MOST_CHARACTERS - characters);
    characters += kept.length;
    list.push({ text: kept, isUrl });
  };
  const addUrl = (url: unknown) => {
    if (typeof url === 'string') push(urls, decodeAddress(url), true);
  };
  return {
    addUrl,
    add: (text) => {
      if (typeof text === 'string') push(texts, takeLinks(text.slice(0, MOST_CHARACTERS), addUrl), false);
    },
    isFull,
    parts: () => [...texts, ...urls],
  };
}

/** The text that readers see: with the words of links, without addresses and references to users, groups, channels and times. */
function takeLinks(text: string, addUrl: (url: string) => void): string {
  const shown = text.replace(/<([^<>]{0,3000})>/g, (whole, inside: string) => {
    if (/^[@#!]/.test(inside)) return ' ';
    if (!/^(?:https?:|mailto:|tel:|ftp:)/i.test(inside)) return whole;
    const [url = '', ...label] = inside.split('|');
    addUrl(url);
    return label.length === 0 ? ' ' : ` ${label.join('|')} `;
  });
  const withoutAddresses = shown.replace(/\b[a-z][a-z+.-]{1,20}:\/\/[^\s<>"'`|)\]]+/gi, (url) => {
    addUrl(url);
    return ' ';
  });
  return decodeText(withoutAddresses.replace(/(^|\s):[a-z0-9_+'-]+:(?=\s|$)/g, '$1'));
}

function decodeAddress(url: string): string {
  const address = decodeText(url);
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

function collectMessage(message: Json, collector: Collector, depth: number): void {
  if (depth > MOST_DEPTH) return;
  collector.add(message.text);
  collectBlocks(message.blocks, collector, depth);
  for (const attachment of listOf(message.attachments)) {
    if (collector.isFull()) return;
    for (const field of ['title', 'pretext']) collector.add(attachment[field]);
    // An attachment may be a whole message that was shared.
    collectMessage(attachment, collector, depth + 1);
    for (const field of listOf(attachment.fields))
      collector.add(`${textOf(field.title)}: ${textOf(field.value)}`);
    for (const field of ['author_name', 'author_subname', 'footer', 'fallback'])
      collector.add(attachment[field]);
    for (const link of ['title_link', 'author_link', 'from_url', 'original_url'])
      collector.addUrl(attachment[link]);
    collectBlocks(attachment.message_blocks, collector, depth + 1);
  }
}

const RICH_TEXT = /^rich_text_(?:section|preformatted|quote)$/;

/** Collects texts and addresses from any block, by the names of their fields. */
function collectBlocks(part: unknown, collector: Collector, depth: number): void {
  if (depth > MOST_DEPTH || collector.isFull()) return;
  if (Array.isArray(part)) {
    for (const each of part) collectBlocks(each, collector, depth + 1);
    return;
  }
  if (!isJson(part)) return;
  if (typeof part.type === 'string' && RICH_TEXT.test(part.type)) {
    collectRichText(listOf(part.elements), collector);
    return;
  }
  for (const [name, value] of Object.entries(part)) {
    if (typeof value === 'object') collectBlocks(value, collector, depth + 1);
    else if (['text', 'title', 'subtitle', 'description', 'alt_text'].includes(name)) collector.add(value);
    else if (/(^|_)url$/.test(name)) collector.addUrl(value);
  }
}

/** Joins neighboring elements, since a name may be half bold. */
function collectRichText(elements: readonly Json[], collector: Collector): void {
  const words = elements.map(({ type, text, url }) => {
    if (type === 'text') return textOf(text);
    if (type !== 'link') return ' ';
    collector.addUrl(url);
    return textOf(text) || ' ';
  });
  collector.add(words.join(''));
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
