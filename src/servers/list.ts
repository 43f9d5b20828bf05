import { defineUseCase } from '../core/entry.ts';
import { filterServers } from '../core/find-server.ts';
import { isNoteOf, type ListExtent, type Server, type ServerNote } from '../core/server.ts';
import type { OnWait } from '../hosting/hosting-api.ts';
import { createButton } from '../purchases/catalog.ts';
import { actions, context, type Message, section, textMessage } from '../slack/kit/blocks.ts';
import { definePages, pageOf } from '../slack/kit/button.ts';
import { defineCommand, findUserId } from '../slack/kit/command.ts';
import { serverOption } from '../slack/kit/fields.ts';
import { codeTyped, count, describeNumber, mention } from '../slack/kit/text.ts';
import { sendWaiting } from '../slack/reply.ts';
import { listButton, manageChoice } from './buttons.ts';
import { showById } from './card.ts';
import { chooseServer, suggestServers } from './find.ts';
import { NO_SERVERS, serverLine } from './words.ts';

/** The servers that match, and how much of the account's list they were looked for in. */
interface FoundServers {
  readonly servers: readonly Server[];
  readonly extent: ListExtent;
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
    return { servers: filterServers(filter, seen, searchNotes(notes)), extent };
  },
});

/** Makes a function that returns the searchable text of a server's note. */
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
    await request.reply.send(serverList(found, filter, 0, request.now()));
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

/** A mention without the name that Slack adds, so that it matches the contact of a note. */
function plainMention(word: string): string {
  const userId = findUserId(word);
  return userId === undefined ? word : mention(userId);
}

/** As many rows as fit into a message with the longest labels, and as a menu shows at a glance. */
const ON_A_PAGE = 20;

/** Renders one page of the matching servers, with a menu to manage one. `page` counts from 0. */
export function serverList(
  { servers, extent }: FoundServers,
  filter: string,
  asked: number,
  now: number,
): Message {
  if (servers.length === 0) return emptyList(filter, extent);
  const { page, pages, from, shown } = pageOf(servers, asked, ON_A_PAGE);
  const title = titleOf(servers, filter);
  const range = `${describeNumber(from + 1)}–${describeNumber(from + shown.length)}`;
  const note = `Showing ${range}. To find another one, search in the menu, or narrow the list: \`/vps list web\`.`;
  const menu =
    pages > 1
      ? manageChoice.typeAhead('Manage a server')
      : manageChoice.menu('Manage a server', shown.map(serverOption));
  return {
    text: pages > 1 ? `${title}, showing ${range}` : title,
    blocks: [
      section(`*${title}*`),
      ...shown.map((server) => section(serverLine(server, now))),
      ...(pages > 1 ? [context(note)] : []),
      actions(menu, ...listPages.buttons({ page, pages }, filter)),
    ],
  };
}

function titleOf(servers: readonly Server[], filter: string): string {
  return `${count(servers.length, 'server')}${filter ? ` matching ${describeFilter(filter)}` : ''}`;
}

/** Mentions the user whose servers were asked for; other filters are typed text, which pings nobody. */
function describeFilter(filter: string): string {
  return /^<@[UW][A-Z0-9]+>$/.test(filter) ? filter : codeTyped(filter);
}

function emptyList(filter: string, extent: ListExtent): Message {
  const isWhole = extent === 'whole';
  if (filter && isWhole) return textMessage(`No servers match ${describeFilter(filter)}.`);
  if (filter)
    return textMessage(
      `No listed server matches ${describeFilter(filter)}, but some servers may be missing.`,
    );
  if (!isWhole) return textMessage(NO_SERVERS);
  const create = createButton.element('Create a server…', {}, { style: 'primary' });
  return textMessage('There are no servers in the hosting account yet.', actions(create));
}
