import type { DataTableBlock, KnownBlock } from '@slack/types';
import type { Server } from '../../domain/server.ts';
import { actions, context, type Message, section, textMessage } from '../kit/blocks.ts';
import { pageButtons } from '../kit/pagination.ts';
import { serverOption } from '../kit/server-option.ts';
import {
  codeLabel,
  codeTyped,
  count,
  escapeText,
  plainLabel,
  shorten,
  slackDate,
  utcDate,
} from '../kit/text.ts';
import { createButton } from '../purchases/buttons.ts';
import { listPages, manageChoice } from './buttons.ts';

/** Rows and characters of the cells of one message; two readings of Slack's limits exist, and these hold in both. */
const ROWS_PER_MESSAGE = 100;
const CELLS_PER_MESSAGE = 9500;
/** A section is taller than a row, and a message has at most 50 blocks. */
const SECTIONS_PER_MESSAGE = 25;
/** Longer menus load their choices while the user types: they would make the message too long. */
const MENU_MOST = 25;

/** All servers that match, in a table that Slack sorts and pages; a menu manages one of them. */
export function serverList(servers: readonly Server[], filter: string, page: number): Message {
  if (servers.length === 0) return emptyList(filter);
  const parts = splitServers(servers);
  const pages = parts.length;
  const at = Math.min(page, pages - 1);
  const shown = parts[at] ?? [];
  const title = `${count(servers.length, 'server')}${filter ? ` with ${codeTyped(filter)}` : ''}${pages > 1 ? `, part ${at + 1} of ${pages}` : ''}`;
  const controls = listControls(servers, shown, filter, at, pages);
  return {
    text: title,
    blocks: [section(`*${title}*`), serverTable(shown), controls],
    // Rarely needed and as long as the table, so it is built on demand.
    get plainBlocks() {
      return [section(`*${title}*`), ...serverSections(shown), controls];
    },
  };
}

function emptyList(filter: string): Message {
  if (filter) return textMessage(`No server has ${codeTyped(filter)} in its label, id, address or state.`);
  const create = createButton.element('Create a server…', {}, { style: 'primary' });
  return textMessage('The account has no servers yet.', actions(create));
}

/** As many servers in each part as one table holds. */
function splitServers(servers: readonly Server[]): readonly (readonly Server[])[] {
  const parts: Server[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const server of servers) {
    const length = cellsOf(server).join('').length;
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

const HEAD = ['Label', 'State', 'IPv4', 'Paid until', 'Id'];

/** An empty cell makes Slack drop the whole message: every cell has a word. */
function cellsOf(server: Server): readonly string[] {
  return [
    plainLabel(server.label, 40),
    describeState(server),
    shorten(server.ipv4 || 'none yet', 40),
    server.paidUntil === undefined ? 'unknown' : utcDate(server.paidUntil).slice(0, 10),
    String(server.id),
  ];
}

function serverTable(servers: readonly Server[]): DataTableBlock {
  const rows = [HEAD, ...servers.map(cellsOf)].map((cells) =>
    cells.map((text) => ({ type: 'raw_text' as const, text })),
  );
  return { type: 'data_table', caption: 'Servers', page_size: 10, rows };
}

function describeState({ state }: Server): string {
  return shorten(state.trim() || 'unknown', 20);
}

function serverSections(servers: readonly Server[]): KnownBlock[] {
  const shown = servers.slice(0, SECTIONS_PER_MESSAGE);
  const rest = servers.length - shown.length;
  const lines = shown.map((server) => {
    const paid = server.paidUntil === undefined ? 'unknown' : slackDate(server.paidUntil);
    const ipv4 = server.ipv4 ? ` · \`${escapeText(shorten(server.ipv4, 40))}\`` : '';
    return section(
      `${codeLabel(server.label, 40)} · ${escapeText(describeState(server))}${ipv4} · paid until ${paid} · ${server.id}`,
    );
  });
  return rest > 0 ? [...lines, context(`${rest} more: narrow the list with \`/vps list <filter>\`.`)] : lines;
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
