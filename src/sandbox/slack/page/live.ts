import type { ServerResponse } from 'node:http';
import type { SlackEvent } from '../journal.ts';
import type { PageEvent } from '../page-api.ts';
import type { StoredMessage } from '../stored-message.ts';
import type { User } from '../workspace.ts';
import type { World } from '../world.ts';
import { pageMessage, pageStack, pageView } from './describe.ts';

/** Streams what one user may see, as server-sent events, until the page disconnects. */
export function streamEvents(world: World, user: User, outgoing: ServerResponse): void {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  outgoing.write(': connected\n\n');
  const stop = world.journal.onEvent((event) => {
    const shown = eventFor(world, user, event);
    if (shown) outgoing.write(`event: ${shown.type}\ndata: ${JSON.stringify(shown)}\n\n`);
  });
  outgoing.on('close', stop);
}

function eventFor(world: World, user: User, event: SlackEvent): PageEvent | undefined {
  if (event.type === 'traffic' || event.type === 'broken_rule') return event;
  if (event.type === 'workspace') return { type: 'reload' };
  if ('message' in event)
    return isFor(world, user, event.message) ? messageEvent(world, event, user) : undefined;
  if (event.type === 'workflow') return undefined;
  if (event.user !== user.id || event.type === 'read') return undefined;
  if (event.type === 'views') return { type: 'views', views: pageStack(world, user) };
  if (event.type === 'reload') return { type: 'reload' };
  const home = world.views.homeOf(user.id);
  return home && { type: 'home', view: pageView(home) };
}

function messageEvent(
  world: World,
  event: Extract<SlackEvent, { message: StoredMessage }>,
  user: User,
): PageEvent {
  const { message } = event;
  if (event.type === 'message_deleted') return { type: event.type, channel: message.channel, ts: message.ts };
  return { type: event.type, message: pageMessage(world, message, user) };
}

function isFor(world: World, user: User, message: StoredMessage): boolean {
  if (message.to !== undefined && message.to !== user.id) return false;
  return world.channels.some((channel) => channel.id === message.channel && channel.members.has(user.id));
}
