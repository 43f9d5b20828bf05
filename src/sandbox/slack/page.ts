import type { IncomingMessage, ServerResponse } from 'node:http';
import { valuesOf } from './entered.ts';
import { answerPost, isSameOrigin, sendJson, sendText } from './http.ts';
import type { SlackEvent } from './journal.ts';
import { textIn } from './json.ts';
import { findPings } from './mentions.ts';
import { enteredBy, type StoredMessage } from './messages.ts';
import { type PageAction, parseAction } from './page-actions.ts';
import type { PageChannel, PageEvent, PageMessage, PageResult, PageState, PageView } from './page-api.ts';
import { SlackRefusal } from './refusal.ts';
import { close, submit } from './user-actions/form.ts';
import { fill, press, suggest } from './user-actions/press.ts';
import { openTab, reload, type, useShortcut } from './user-actions/type.ts';
import type { StoredView } from './views.ts';
import { APP, type Channel, type User } from './workspace.ts';
import type { World } from './world.ts';

export async function answerPage(
  world: World,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  path: string,
  query: URLSearchParams,
): Promise<void> {
  if (!isSameOrigin(incoming)) return sendText(outgoing, 403, 'not from another site');
  const route = `${incoming.method} ${path}`;
  if (route === 'POST /page/do') return answerPost(incoming, outgoing, (action) => tryAction(world, action));
  const user = findClient(world, query.get('as') ?? '');
  if (!user) return sendText(outgoing, 404, 'no such user');
  if (route === 'GET /page/state') return sendJson(outgoing, 200, pageState(world, user));
  if (route === 'GET /page/live') return streamEvents(world, user, outgoing);
  return sendText(outgoing, 404, 'not found');
}

async function tryAction(world: World, given: unknown): Promise<PageResult | undefined> {
  const action = parseAction(given);
  const user = action && findClient(world, action.as);
  if (!user) return undefined;
  try {
    return { ok: true, ...(await perform(world, user, action)) };
  } catch (error) {
    if (!(error instanceof SlackRefusal)) throw error;
    const { code, words, errors } = error;
    return { ok: false, error: code, words, ...(errors ? { errors } : {}) };
  }
}

/** Finds a user who can use a client: no bot, not deactivated. */
function findClient(world: World, id: string): User | undefined {
  const user = world.roster.findUser(id);
  return user?.isBot || user?.isDeactivated ? undefined : user;
}

/**
 * Performs an action of the page and waits until the app has acknowledged; gives what only `suggest` has.
 * @throws SlackRefusal
 */
async function perform(world: World, user: User, action: PageAction) {
  switch (action.do) {
    case 'suggest':
      return suggest(world, user, action, action.query);
    case 'message':
    case 'command':
      await type(world, user, action.channel, action.text, { threadTs: action.threadTs });
      break;
    case 'action':
      await press(world, user, action);
      break;
    case 'fill':
      await fill(world, user, action);
      break;
    case 'submit':
      await submit(world, user, action.view);
      break;
    case 'close':
      close(world, user, action.view, action.all);
      break;
    case 'shortcut':
      await useShortcut(world, user, action.callbackId, action.message);
      break;
    case 'home':
      await openTab(world, user, action.tab === 'messages' ? 'messages' : 'home');
      break;
    case 'reload':
      reload(world, user);
  }
  return {};
}

function streamEvents(world: World, user: User, outgoing: ServerResponse): void {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  outgoing.write(': connected\n\n');
  const stop = world.journal.onEvent((event) => {
    const shown = eventFor(world, user, event);
    if (shown) outgoing.write(`data: ${JSON.stringify(shown)}\n\n`);
  });
  outgoing.on('close', stop);
}

function eventFor(world: World, user: User, event: SlackEvent): PageEvent | undefined {
  if (event.type === 'traffic' || event.type === 'broken_rule' || event.type === 'panel') return event;
  if (event.type === 'workspace') return { type: 'reload' };
  if ('message' in event) {
    const { type, message } = event;
    const channel = world.channels.find(({ id }) => id === message.channel);
    const isForUser = message.to === undefined || message.to === user.id;
    if (!isForUser || !channel?.members.has(user.id)) return undefined;
    if (type === 'message_deleted') return { type, channel: message.channel, ts: message.ts };
    return { type, message: pageMessage(world, message, user) };
  }
  if (event.user !== user.id) return undefined;
  if (event.type === 'views') return { type: 'views', views: world.views.stackOf(user.id).map(pageView) };
  if (event.type === 'reload') return { type: 'reload' };
  const home = world.views.homeOf(user.id);
  return home && { type: 'home', view: pageView(home) };
}

const TRAFFIC_SHOWN = 200;

export function pageMessage(world: World, message: StoredMessage, user: User): PageMessage {
  const { to, order: _order, entered: _entered, ...content } = message;
  return {
    ...content,
    ephemeral: to !== undefined,
    values: valuesOf(message.blocks, enteredBy(message, user.id)),
    pings: findPings(message, world),
  };
}

export function pageView(view: StoredView): PageView {
  const submit = textIn(view.fields.submit, 'text');
  return {
    id: view.id,
    hash: view.hash,
    title: textIn(view.fields.title, 'text'),
    ...(submit ? { submit } : {}),
    close: textIn(view.fields.close, 'text') || 'Cancel',
    blocks: view.blocks,
    values: valuesOf(view.blocks, view.entered),
    errors: view.errors,
    ...(view.trouble === undefined ? {} : { trouble: view.trouble }),
  };
}

function pageChannel(world: World, channel: Channel, user: User): PageChannel {
  return {
    id: channel.id,
    name: channel.name,
    kind: channel.kind,
    hasApp: channel.members.has(APP.botUserId),
    members: [...channel.members],
    messages: world.messages
      .visibleTo(user.id, channel.id)
      .map((message) => pageMessage(world, message, user)),
  };
}

function pageState(world: World, user: User): PageState {
  const home = world.views.homeOf(user.id);
  const { command, description, usageHint, shortcuts, isInteractive } = world.app;
  return {
    team: { name: world.team.name },
    app: { name: APP.name },
    as: user,
    people: world.roster.people(),
    groups: world.roster.groups().map(({ id, handle, name }) => ({ id, handle, name })),
    // Commands and shortcuts are not shared with other organizations.
    commands: user.isExternal || command === '' ? [] : [{ command, description, usageHint }],
    shortcuts: user.isExternal || !isInteractive ? [] : shortcuts,
    channels: world.channels
      .filter((channel) => channel.members.has(user.id) && !channel.isArchived)
      .map((channel) => pageChannel(world, channel, user)),
    views: world.views.stackOf(user.id).map(pageView),
    home: home ? pageView(home) : null,
    traffic: world.journal.traffic().slice(-TRAFFIC_SHOWN),
    brokenRules: world.journal.brokenRules(),
  };
}
