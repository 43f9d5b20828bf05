import type { ActionsBlock, KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { ServerCard } from '../../app/servers/show-server.ts';
import type { Server } from '../../domain/server.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/time.ts';
import { actions, context, section } from '../kit/blocks.ts';
import { cardView } from '../kit/card-view.ts';
import type { Origin } from '../kit/origin.ts';
import { count, plainLabel } from '../kit/text.ts';
import { findChoice, matchButton } from './buttons.ts';
import { serverLine } from './describe-server.ts';
import { serverCard } from './server-card.ts';

export const MANAGE_TITLE = 'Manage server';
/** More than these are found by typing. */
const MATCHES_SHOWN = 10;
const RECENT_SHOWN = 5;

/** The one server that a message mentions. `age`: how old that message is. */
export function mentionedView(
  card: ServerCard,
  age: string | undefined,
  origin: Origin,
  now: number,
): ModalView {
  const { blocks } = serverCard(card, now);
  return cardView(MANAGE_TITLE, origin, { blocks, kept: [...aged(age), finder()] });
}

/** The servers that a message mentions, to choose one; or none, so that another one can be found. */
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

/** The servers that the user has used last, and a menu for all. */
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

/** An alert may have been dealt with hours ago; undefined if the message doesn't say when it was sent. */
export function describeAge(message: unknown, now: number): string | undefined {
  const ts = sentMessage.safeParse(message).data?.ts;
  if (ts === undefined) return undefined;
  const ms = now - Number(ts) * 1000;
  if (ms < MINUTE_MS) return 'The message is less than a minute old.';
  if (ms < HOUR_MS) return `The message is ${Math.floor(ms / MINUTE_MS)} min old.`;
  const [amount, unit] = ms < 2 * DAY_MS ? [ms / HOUR_MS, 'h'] : [ms / DAY_MS, 'days'];
  return `:warning: The message is ${Math.floor(amount)} ${unit} old.`;
}
