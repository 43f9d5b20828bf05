import type { DataTableBlock, KnownBlock } from '@slack/types';
import { defineUseCase } from '../core/entry.ts';
import { filterServers } from '../core/find-server.ts';
import { isNoteOf, type ListExtent, type Server, type ServerNote } from '../core/server.ts';
import { DAY_MS } from '../core/time.ts';
import type { OnWait } from '../hosting/hosting-api.ts';
import { createButton } from '../purchases/catalog.ts';
import { actions, context, type Message, section, textMessage } from '../slack/kit/blocks.ts';
import { definePages } from '../slack/kit/button.ts';
import { defineCommand, findUserId } from '../slack/kit/command.ts';
import { serverOption } from '../slack/kit/fields.ts';
import {
  codeLabel,
  count,
  describeNumber,
  mention,
  plainLabel,
  plainState,
  shorten,
  utcDate,
} from '../slack/kit/text.ts';
import { sendWaiting } from '../slack/reply.ts';
import { listButton, manageChoice } from './buttons.ts';
import { showById } from './card.ts';
import { chooseServer, suggestServers } from './find.ts';
import { noServersWords, serverLine } from './words.ts';

/** The servers that match, and how much of the account's list they were looked for in. */
interface FoundServers {
  readonly servers: readonly Server[];
  readonly extent: ListExtent;
  /** The actor's role is for some servers only; others are left out. */
  readonly isLimited: boolean;
}

/**
 * Lists the servers that the actor may see and that match the filter, sorted by label. A non-empty filter also searches notes.
 * @throws Refusal `no_api_key`; HostingError if the list can't be read
 */
export const listServers = defineUseCase({
  name: 'list',
  needs: 'viewer',
  effect: 'reads',
  run: async (
    { filter, onWait }: { filter: string; onWait?: OnWait | undefined },
    context,
  ): Promise<FoundServers> => {
    const hosting = await context.hosting();
    const { servers, extent } = await hosting.fetchServers({ onWait });
    const seen = context.coversEveryServer ? servers : servers.filter(({ label }) => context.covers(label));
    const notes = filter === '' ? [] : await context.app.serverNotes.list('note', context.actor.workspaceId);
    const found = filterServers(filter, seen, searchNotes(notes));
    return { servers: found, extent, isLimited: !context.coversEveryServer };
  },
});

function searchNotes(notes: readonly ServerNote[]): (server: Server) => string {
  const byId = new Map(notes.map((note) => [note.serverId, note]));
  return (server) => {
    const note = byId.get(server.id);
    return note && isNoteOf(note, server) ? `${note.text} <@${note.contact ?? ''}>` : '';
  };
}

const listPages = definePages('list');

export const list = defineCommand({
  name: 'list',
  usage: 'list [filter]',
  example: 'list web',
  summary: 'List servers and manage one',
  needs: 'viewer',
  parse: ({ words }) => ({ filter: words.map(plainMention).join(' ') }),
  run: async ({ filter }, request) => {
    const found = await request.execute(listServers, { filter, onWait: sendWaiting(request) });
    await request.reply.send(
      filter === '' ? wholeList(found, request.now()) : serverList(found, filter, 0, request.now()),
    );
  },
  actions: [
    ...listPages.on(async ({ filter = '', page }, request) => {
      const found = await request.execute(listServers, { filter });
      await request.reply.replace(serverList(found, filter, page, request.now()));
    }),
    listButton.on(async (_value, request) => {
      const found = await request.execute(listServers, { filter: '' });
      await request.reply.send(serverList(found, '', 0, request.now()));
    }),
    manageChoice.on((id, request) => showById(Number(id), request)),
  ],
  suggestions: [suggestServers(manageChoice.id, chooseServer.show)],
});

/** Messages of whole lists, which many users ask for at once. Each is kept as long as its list, which is read again after seconds. */
const wholeLists = new WeakMap<readonly Server[], Message>();

function wholeList(found: FoundServers, now: number): Message {
  const made = wholeLists.get(found.servers) ?? serverList(found, '', 0, now);
  wholeLists.set(found.servers, made);
  return made;
}

/** A mention without the name that Slack adds, so that it matches the contact of a note. */
function plainMention(word: string): string {
  const userId = findUserId(word);
  return userId === undefined ? word : mention(userId);
}

/** Rows, and characters in all cells, of one message. Two readings of Slack's limits exist, and these hold in both. */
const ROWS_PER_MESSAGE = 100;
const CELLS_PER_MESSAGE = 9500;
/** Lists of so many servers are rows of text, which may ride on the ack of the command (`slack/dispatch.ts`); longer ones are tables. */
const MOST_ROWS = 20;
/** A section is taller than a row, and a message has at most 50 blocks. */
const SECTIONS_PER_MESSAGE = 25;
/** Longer menus load their choices while the user types, so that the message doesn't get too long. */
const MENU_MOST = 25;

/** Renders matching servers as rows or, where they are many, one page of a table that Slack sorts, with a menu to manage one. `page` counts from 0. */
export function serverList(found: FoundServers, filter: string, page: number, now: number): Message {
  const { servers } = found;
  if (servers.length === 0) return emptyList(filter, found);
  if (servers.length <= MOST_ROWS) return shortList(servers, filter, now);
  const parts = splitServers(servers, now);
  const at = Math.min(page, parts.length - 1);
  const shown = parts[at] ?? [];
  const title = titleOf(servers, filter);
  const first = parts.slice(0, at).flat().length + 1;
  const range = `${describeNumber(first)}–${describeNumber(first + shown.length - 1)}`;
  const note = `Showing ${range}. To find another one, search in the menu, or narrow the list: \`/vps list web\`.`;
  const more = parts.length > 1 ? [context(note)] : [];
  const controls = listControls(servers, shown, filter, at, parts.length);
  const heading = section(`*${title}*`);
  return {
    text: parts.length > 1 ? `${title}, showing ${range}` : title,
    blocks: [heading, serverTable(shown, now), ...more, controls],
    // Rarely needed and as long as the table, so it is built on demand.
    get plainBlocks() {
      return [heading, ...serverSections(shown, now), ...more, controls];
    },
  };
}

function shortList(servers: readonly Server[], filter: string, now: number): Message {
  const text = titleOf(servers, filter);
  const rows = servers.map((server) => section(serverLine(server, now)));
  return { text, blocks: [section(`*${text}*`), ...rows, listControls(servers, servers, filter, 0, 1)] };
}

function titleOf(servers: readonly Server[], filter: string): string {
  return `${count(servers.length, 'server')}${filter ? ` matching ${describeFilter(filter)}` : ''}`;
}

/** Mentions the user whose servers were asked for; other filters are typed text, which pings nobody. */
function describeFilter(filter: string): string {
  return /^<@[UW][A-Z0-9]+>$/.test(filter) ? filter : codeLabel(filter);
}

function emptyList(filter: string, found: FoundServers): Message {
  const isWhole = found.extent === 'whole';
  if (filter && isWhole) return textMessage(`No servers match ${describeFilter(filter)}.`);
  if (filter)
    return textMessage(
      `No listed server matches ${describeFilter(filter)}, but some servers may be missing.`,
    );
  const words = noServersWords(found);
  if (!isWhole) return textMessage(words);
  const create = createButton.element('Create a server…', {}, { style: 'primary' });
  return textMessage(words, actions(create));
}

function splitServers(servers: readonly Server[], now: number): readonly (readonly Server[])[] {
  const parts: Server[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const server of servers) {
    const length = cellsOf(server, now).join('').length;
    const part = parts.at(-1);
    if (part && part.length < ROWS_PER_MESSAGE && characters + length <= CELLS_PER_MESSAGE) {
      part.push(server);
      characters += length;
    } else {
      parts.push([server]);
      characters = HEAD.join('').length + length;
    }
  }
  return parts;
}

/** Columns by importance: a phone shows only the beginning of a row. */
const HEAD = ['State', 'Label', 'IPv4', 'Paid until', 'ID'];

/** The cells of a row. Never empty: an empty cell makes Slack drop the whole message. */
function cellsOf(server: Server, now: number): readonly string[] {
  return [
    plainState(server),
    plainLabel(server.label, 40),
    shorten(server.ipv4 || 'none yet', 40),
    paidCell(server, now),
    String(server.id),
  ];
}

/** The paid-until day in UTC, which sorts as text, with the days left if there are fewer than seven. */
function paidCell({ paidUntil }: Server, now: number): string {
  if (paidUntil === undefined) return 'unknown';
  const day = utcDate(paidUntil).slice(0, 10);
  if (paidUntil <= now) return `${day} (ended)`;
  const days = Math.floor((paidUntil - now) / DAY_MS);
  return days < 7 ? `${day} (${days === 0 ? 'less than a day left' : `${count(days, 'day')} left`})` : day;
}

function serverTable(servers: readonly Server[], now: number): DataTableBlock {
  const rows = [HEAD, ...servers.map((server) => cellsOf(server, now))].map((cells) =>
    cells.map((text) => ({ type: 'raw_text' as const, text })),
  );
  return { type: 'data_table', caption: 'Servers', page_size: 10, row_header_column_index: 1, rows };
}

function serverSections(servers: readonly Server[], now: number): KnownBlock[] {
  const shown = servers.slice(0, SECTIONS_PER_MESSAGE);
  const rest = servers.length - shown.length;
  const lines = shown.map((server) => section(serverLine(server, now)));
  return rest > 0
    ? [...lines, context(`${rest} more: narrow the list with \`/vps list &lt;filter&gt;\`.`)]
    : lines;
}

function listControls(
  all: readonly Server[],
  shown: readonly Server[],
  filter: string,
  page: number,
  pages: number,
) {
  const menu =
    all.length > MENU_MOST
      ? manageChoice.typeAhead('Manage a server')
      : manageChoice.menu('Manage a server', shown.map(serverOption));
  return actions(menu, ...listPages.buttons({ page, pages }, filter));
}
