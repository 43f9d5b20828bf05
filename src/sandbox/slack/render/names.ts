import type { Channel } from '../channels.ts';
import { Roster } from '../roster.ts';

/** What the renderers must know of the workspace. */
export interface Surroundings {
  readonly channels: readonly Pick<Channel, 'id' | 'name' | 'kind'>[];
  /** Those of a fresh workspace, unless said otherwise. */
  readonly roster?: Roster | undefined;
  /** Epoch milliseconds, for `{ago}`. */
  readonly now: number;
}

/** Where names are looked up. */
export type Named = Pick<Surroundings, 'roster'>;

const fresh = new Roster();

export function personName(id: string, { roster = fresh }: Named): string {
  return `@${roster.findUser(id)?.name ?? id}`;
}

export function channelName(id: string, around: Surroundings): string {
  const channel = around.channels.find((each) => each.id === id);
  return channel && channel.kind !== 'dm' ? `#${channel.name}` : '#private channel';
}

export function groupName(id: string, { roster = fresh }: Named): string {
  return `@${roster.findGroup(id)?.handle ?? id}`;
}
