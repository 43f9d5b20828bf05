import type { ChannelId } from './ids.ts';

/** A message of ours that is edited in place later. */
export interface Card {
  readonly channelId: ChannelId;
  readonly ts: string;
}
