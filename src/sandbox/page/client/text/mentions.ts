import { getScreen } from '../state/store.ts';

/** The name of a user: "@olga"; the ID of an unknown user. */
export function personName(id: string): string {
  return `@${getScreen().state?.people.find((user) => user.id === id)?.name ?? id}`;
}

/** The handle of a user group: "@oncall"; what the app wrote, or else the id, of an unknown one. */
export function groupName(id: string, label: string): string {
  const known = getScreen().state?.groups.find((group) => group.id === id);
  return known ? `@${known.handle}` : label || `@${id}`;
}

/** The name of a channel, as far as this user may know it. */
export function channelName(id: string, label: string): string {
  const known = getScreen().state?.channels.find((channel) => channel.id === id);
  return `#${known?.name ?? (label || 'private channel')}`;
}
