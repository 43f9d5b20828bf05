import type { ChannelId } from '../../domain/ids.ts';
import { defineUseCase } from '../authorize/use-case.ts';
/**
 * Whether the outcome of the actor's order may be announced in a channel: only where Slack says that they are a member. From
 * then on, the order is as if it had been made there, with the roles that the channel gives its members; a menu also offers
 * channels that they are not in.
 */
export const mayChooseChannel = defineUseCase({
  name: 'create',
  needs: 'manager',
  effect: 'reads',
  run: async ({ channelId }: { channelId: ChannelId }, { actor, app }): Promise<boolean> =>
    (await app.channels.hasMember(actor.workspaceId, channelId, actor.userId)) === true,
});
