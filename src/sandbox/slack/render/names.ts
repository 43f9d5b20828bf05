import type { Channel } from '../channels.ts';
import { findPerson, USERGROUPS } from '../workspace.ts';

/** What the renderers must know of the workspace. */
export interface Surroundings {
  readonly channels: readonly Channel[];
  /** Epoch milliseconds, for `{ago}`. */
  readonly now: number;
}

export function personName(id: string): string {
  return `@${findPerson(id)?.name ?? id}`;
}

export function channelName(id: string, around: Surroundings): string {
  const channel = around.channels.find((each) => each.id === id);
  return channel && channel.kind !== 'dm' ? `#${channel.name}` : '#private channel';
}

export function groupName(id: string): string {
  return `@${USERGROUPS.find((each) => each.id === id)?.handle ?? id}`;
}
