import { type Channel, findChannel } from '../channels.ts';
import { objectIn } from '../json.ts';
import type { Entered, Json } from '../page-api.ts';
import { SlackRefusal } from '../refusal.ts';
import type { User } from '../workspace.ts';
import type { World } from '../world.ts';

/**
 * A channel or conversation menu offers what the user can see and its `filter` lets through.
 * @throws SlackRefusal not_an_option
 */
export function checkPicker(world: World, user: User, element: Json, value: Entered): void {
  const type = String(element.type);
  const isChannels = type.endsWith('channels_select');
  if (!isChannels && !type.endsWith('conversations_select')) return;
  for (const id of typeof value === 'string' ? [value] : (value ?? [])) {
    if (id === '') continue;
    const channel = findChannel(world.channels, id);
    if (channel && isSeen(channel, user) && isOffered(channel, element, isChannels)) continue;
    // A conversation menu names direct messages by the other user.
    if (!channel && !isChannels && world.roster.findUser(id) && includes(element, 'im')) continue;
    throw new SlackRefusal('not_an_option', `${channel?.name ?? id} is not offered by this menu's filter`);
  }
}

function isSeen({ isArchived, kind, members }: Channel, user: User): boolean {
  return !isArchived && (kind === 'public' || members.has(user.id));
}

function isOffered(channel: Channel, element: Json, isChannels: boolean): boolean {
  const kind = kindOf(channel);
  if (isChannels) return kind === 'public';
  const filter = objectIn(element, 'filter');
  if (!includes(element, kind)) return false;
  // The sandbox's direct messages are all with the app, which is a bot.
  if (kind === 'im' && filter?.exclude_bot_users === true) return false;
  return !(channel.kind === 'shared' && filter?.exclude_external_shared_channels === true);
}

function kindOf({ kind }: Channel): 'im' | 'private' | 'public' {
  if (kind === 'dm') return 'im';
  return kind === 'private' ? 'private' : 'public';
}

function includes(element: Json, kind: string): boolean {
  const include = objectIn(element, 'filter')?.include;
  return !Array.isArray(include) || include.includes(kind);
}
