import type { PageChannel } from '../../../slack/page-api.ts';
import type { Screen } from './screen.ts';

export interface Unread {
  readonly count: number;
  /** Messages that notify this user by name. */
  readonly pings: number;
}

/** What this user has not seen yet in a channel. */
export function countUnread(screen: Screen, channel: PageChannel): Unread {
  const { state } = screen;
  if (!state) return { count: 0, pings: 0 };
  const here = screen.read[`${state.as.id}/${channel.id}`] ?? '';
  const upTo = here > channel.readUpTo ? here : channel.readUpTo;
  const isDm = channel.kind === 'dm';
  const names = [`@${state.as.name}`, '@channel', '@here', '@everyone'];
  const from = channel.messages.findLastIndex(({ ts }) => ts <= upTo) + 1;
  const fresh = channel.messages.slice(from).filter(({ user }) => user !== state.as.id);
  const pings = fresh.filter((message) => isDm || message.pings.some((name) => names.includes(name)));
  return { count: fresh.length, pings: pings.length };
}

/** Marks the selected channel as read up to its last message. */
export function markRead(screen: Screen): Screen {
  const { state, tab } = screen;
  const channel = state?.channels.find(({ id }) => id === screen.channel);
  const last = channel?.messages.at(-1)?.ts;
  if (!state || !channel || !last || (channel.kind === 'dm' && tab === 'home')) return screen;
  const key = `${state.as.id}/${channel.id}`;
  return screen.read[key] === last ? screen : { ...screen, read: { ...screen.read, [key]: last } };
}
