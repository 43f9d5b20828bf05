import type { ServerResponse } from 'node:http';
import type { SlackEvent } from '../journal.ts';
import type { PageEvent } from '../page-api.ts';
import type { StoredMessage } from '../stored-message.ts';
import type { Person } from '../workspace.ts';
import type { World } from '../world.ts';
import { pageMessage, pageStack, pageView } from './describe.ts';

/** Streams what one person may know of, as server-sent events, until the page goes away. */
export function streamEvents(world: World, person: Person, outgoing: ServerResponse): void {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  outgoing.write(': connected\n\n');
  const stop = world.journal.onEvent((event) => {
    const told = eventFor(world, person, event);
    if (told) outgoing.write(`event: ${told.type}\ndata: ${JSON.stringify(told)}\n\n`);
  });
  outgoing.on('close', stop);
}

function eventFor(world: World, person: Person, event: SlackEvent): PageEvent | undefined {
  if (event.type === 'traffic' || event.type === 'broken_law') return event;
  if (event.type === 'workspace') return { type: 'reload' };
  if ('message' in event)
    return isFor(world, person, event.message) ? tellMessage(world, event, person) : undefined;
  if (event.person !== person.id || event.type === 'read') return undefined;
  if (event.type === 'views') return { type: 'views', views: pageStack(world, person) };
  if (event.type === 'reload') return { type: 'reload' };
  const home = world.views.homeOf(person.id);
  return home && { type: 'home', view: pageView(home) };
}

function tellMessage(
  world: World,
  event: Extract<SlackEvent, { message: StoredMessage }>,
  person: Person,
): PageEvent {
  const { message } = event;
  if (event.type === 'message_deleted') return { type: event.type, channel: message.channel, ts: message.ts };
  return { type: event.type, message: pageMessage(world, message, person) };
}

function isFor(world: World, person: Person, message: StoredMessage): boolean {
  if (message.to !== undefined && message.to !== person.id) return false;
  return world.channels.some((channel) => channel.id === message.channel && channel.members.has(person.id));
}
