import type { DataTableBlock, KnownBlock } from '@slack/types';
import type { ListExtent, Server, ServerList } from '../../domain/server.ts';
import { DAY_MS } from '../../domain/time.ts';
import { actions, context, type Message, section, textMessage } from '../kit/blocks.ts';
import { pageButtons } from '../kit/pagination.ts';
import { serverOption } from '../kit/server-option.ts';
import { plainState } from '../kit/server-state.ts';
import { codeTyped, count, describeNumber, plainLabel, shorten, utcDate } from '../kit/text.ts';
import { createButton } from '../purchases/buttons.ts';
import { listPages, manageChoice } from './buttons.ts';
import { serverLine } from './describe-server.ts';

/** Rows and characters of the cells of one message; two readings of Slack's limits exist, and these hold in both. */
const ROWS_PER_MESSAGE = 100;
const CELLS_PER_MESSAGE = 9500;
/** A section is taller than a row, and a message has at most 50 blocks. */
const SECTIONS_PER_MESSAGE = 25;
/** Longer menus load their choices while the user types: they would make the message too long. */
const MENU_MOST = 25;

/** All servers that match, in a table that Slack sorts and pages; a menu manages one of them. */
export function serverList(
  { servers, extent }: Pick<ServerList, 'servers' | 'extent'>,
  filter: string,
  page: number,
  now: number,
): Message {
  if (servers.length === 0) return emptyList(filter, extent);
  const parts = splitServers(servers, now);
  const at = Math.min(page, parts.length - 1);
  const shown = parts[at] ?? [];
  const title = `${count(servers.length, 'server')}${filter ? ` matching ${codeTyped(filter)}` : ''}`;
  const first = parts.slice(0, at).flat().length + 1;
  const range = `${describeNumber(first)}–${describeNumber(first + shown.length - 1)}`;
  const more =
    parts.length > 1
      ? [
          context(
            `Showing ${range}. To find another one, search in the menu, or narrow the list: \`/vps list web\`.`,
          ),
        ]
      : [];
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

/** For an empty list of an account that may have servers. */
export const NO_SERVERS = 'No servers to show.';

function emptyList(filter: string, extent: ListExtent): Message {
  const isWhole = extent === 'whole';
  if (filter) {
    const words = isWhole
      ? `No servers match ${codeTyped(filter)}.`
      : `No listed server matches ${codeTyped(filter)}, but some servers may be missing.`;
    return textMessage(words);
  }
  if (!isWhole) return textMessage(NO_SERVERS);
  const create = createButton.element('Create a server…', {}, { style: 'primary' });
  return textMessage('There are no servers in the hosting account yet.', actions(create));
}

/** As many servers in each part as one table holds. */
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

/** What matters first comes first: a phone shows only the beginning of a row. */
const HEAD = ['State', 'Label', 'IPv4', 'Paid until', 'ID'];

/** An empty cell makes Slack drop the whole message: every cell has a word. */
function cellsOf(server: Server, now: number): readonly string[] {
  return [
    plainState(server),
    plainLabel(server.label, 40),
    shorten(server.ipv4 || 'none yet', 40),
    paidCell(server, now),
    String(server.id),
  ];
}

/** Sorts as text by day; a mark where the time is short. */
function paidCell({ paidUntil }: Server, now: number): string {
  if (paidUntil === undefined) return 'unknown';
  const day = utcDate(paidUntil).slice(0, 10);
  if (paidUntil <= now) return `${day} (ended)`;
  const days = Math.floor((paidUntil - now) / DAY_MS);
  return days < 7 ? `${day} (${days === 0 ? 'today' : count(days, 'day')})` : day;
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
  return actions(menu, ...pageButtons(listPages, page, pages, (to) => ({ filter, page: to })));
}
