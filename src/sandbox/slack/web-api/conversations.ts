import { type Channel, describeChannel, findChannel } from '../channels.ts';
import { textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';
import { APP } from '../workspace.ts';
import type { World } from '../world.ts';
import { getVisibleChannel, required, type WebMethods } from './method.ts';
import { pageOf } from './paging.ts';

const READ = {
  public: 'channels:read',
  shared: 'channels:read',
  private: 'groups:read',
  dm: 'im:read',
} as const;
const reading = Object.values(READ);

export const conversationMethods: WebMethods = {
  'conversations.info': {
    scopes: reading,
    run: (world, args) => ({ channel: describeChannel(getReadable(world, args), world.team) }),
  },
  'conversations.members': {
    scopes: reading,
    run: (world, args) => ({
      members: [...getReadable(world, args).members],
      response_metadata: { next_cursor: '' },
    }),
  },
  'conversations.list': {
    scopes: reading,
    run: listChannels,
  },
  'conversations.open': {
    scopes: ['im:write'],
    run: (world, args) => {
      const channel = findChannel(world.channels, 'dm', required(args, 'users'));
      if (!channel) throw new WebApiError('user_not_found');
      return { channel: { id: channel.id } };
    },
  },
};

/** Each type that is asked for needs its scope, also where there is no such channel. */
function listChannels(world: World, args: Json): Json {
  const types = (textIn(args, 'types') || 'public_channel').split(',');
  for (const type of types) {
    const kind = KINDS[type];
    if (kind === undefined) throw new WebApiError('invalid_types');
    needScope(world, kind, type);
  }
  const listed = world.channels.filter((channel) => types.includes(typeOf(channel)) && isVisible(channel));
  const { page, response_metadata } = pageOf(listed, args);
  return { channels: page.map((channel) => describeChannel(channel, world.team)), response_metadata };
}

const KINDS: Readonly<Record<string, Channel['kind']>> = {
  public_channel: 'public',
  private_channel: 'private',
  im: 'dm',
};

function typeOf(channel: Channel): string {
  if (channel.kind === 'dm') return 'im';
  return channel.kind === 'private' ? 'private_channel' : 'public_channel';
}

function isVisible(channel: Channel): boolean {
  return channel.kind !== 'private' || channel.members.has(APP.botUserId);
}

function getReadable(world: World, args: Json): Channel {
  const channel = getVisibleChannel(world, required(args, 'channel'));
  needScope(world, channel.kind, typeOf(channel));
  return channel;
}

function needScope(world: World, kind: Channel['kind'], type: string): void {
  const needed = READ[kind];
  if (world.app.scopes.includes(needed)) return;
  world.journal.breakRule('missing_scope', `conversations.*: ${needed} is needed for ${type}s`);
  throw new WebApiError('missing_scope', { needed, provided: world.app.scopes.join(',') });
}
