import type { Channel } from '../channels.ts';
import { valuesOf } from '../entered.ts';
import { textIn } from '../json.ts';
import type { PageChannel, PageMessage, PageState, PageView } from '../page-api.ts';
import { findPings } from '../pings.ts';
import { enteredBy, type StoredMessage } from '../stored-message.ts';
import type { StoredView } from '../views.ts';
import { APP, type User } from '../workspace.ts';
import type { World } from '../world.ts';

const TRAFFIC_SHOWN = 200;

export function pageMessage(world: World, message: StoredMessage, user: User): PageMessage {
  return {
    channel: message.channel,
    ts: message.ts,
    user: message.user,
    text: message.text,
    blocks: message.blocks,
    attachments: message.attachments,
    ephemeral: message.to !== undefined,
    edited: message.edited,
    ...(message.threadTs === undefined ? {} : { threadTs: message.threadTs }),
    values: valuesOf(message.blocks, enteredBy(message, user.id)),
    pings: findPings(message, world),
  };
}

export function pageView(view: StoredView): PageView {
  const submit = textIn(view.fields.submit, 'text');
  return {
    id: view.id,
    type: view.type,
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

export function pageStack(world: World, user: User): readonly PageView[] {
  return world.views.stackOf(user.id).map(pageView);
}

function pageChannel(world: World, channel: Channel, user: User): PageChannel {
  return {
    id: channel.id,
    name: channel.name,
    kind: channel.kind,
    hasApp: channel.members.has(APP.botUserId),
    members: [...channel.members],
    readUpTo: world.readMarks.of(user.id, channel.id),
    messages: world.messages
      .visibleTo(user.id, channel.id)
      .map((message) => pageMessage(world, message, user)),
  };
}

/** Everything that one user can see. */
export function pageState(world: World, user: User): PageState {
  const home = world.views.homeOf(user.id);
  const { command, description, usageHint, shortcuts, isInteractive } = world.app;
  return {
    team: world.team,
    app: { id: APP.id, name: APP.name, botUserId: APP.botUserId },
    as: user,
    people: world.roster.people(),
    groups: world.roster.groups().map(({ id, handle, name }) => ({ id, handle, name })),
    // Commands and shortcuts are not shared with other organizations.
    commands: user.isExternal || command === '' ? [] : [{ command, description, usageHint }],
    shortcuts: user.isExternal || !isInteractive ? [] : shortcuts,
    channels: world.channels
      .filter((channel) => channel.members.has(user.id) && !channel.isArchived)
      .map((channel) => pageChannel(world, channel, user)),
    views: pageStack(world, user),
    home: home ? pageView(home) : null,
    traffic: world.journal.traffic().slice(-TRAFFIC_SHOWN),
    brokenRules: world.journal.brokenRules(),
  };
}
