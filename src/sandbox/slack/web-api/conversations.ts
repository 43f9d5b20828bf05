import { type Channel, describeChannel, findChannel } from '../channels.ts';
import { textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';
import { APP } from '../workspace.ts';
import type { World } from '../world.ts';
import { getVisibleChannel, required, type WebMethods } from './method.ts';

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
    run: (world, args) => ({ channel: describeChannel(getReadable(world, args)) }),
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
    run: (world, args) => {
      const types = (textIn(args, 'types') || 'public_channel').split(',');
      const listed = world.channels.filter(
        (channel) => types.includes(typeOf(channel)) && isVisible(channel),
      );
      for (const channel of listed) needScope(world, channel);
      return { channels: listed.map(describeChannel), response_metadata: { next_cursor: '' } };
    },
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

function typeOf(channel: Channel): string {
  if (channel.kind === 'dm') return 'im';
  return channel.kind === 'private' ? 'private_channel' : 'public_channel';
}

function isVisible(channel: Channel): boolean {
  return channel.kind !== 'private' || channel.members.has(APP.botUserId);
}

function getReadable(world: World, args: Json): Channel {
  const channel = getVisibleChannel(world, required(args, 'channel'));
  needScope(world, channel);
  return channel;
}

function needScope(world: World, channel: Channel): void {
  const needed = READ[channel.kind];
  if (world.app.scopes.includes(needed)) return;
  world.journal.breakLaw('missing_scope', `conversations.*: ${needed} is needed for ${typeOf(channel)}s`);
  throw new WebApiError('missing_scope', { needed, provided: world.app.scopes.join(',') });
}
