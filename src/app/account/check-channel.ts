import { Refusal } from '../../domain/errors.ts';
import type { ChannelId } from '../../domain/ids.ts';
import { defineUseCase } from '../authorize/use-case.ts';
import { withTimeout } from '../with-timeout.ts';
import type { ChannelPurpose } from './ports.ts';

/** Slack wants the answer to a form within 3 s. */
const CHECK_TIMEOUT_MS = 2000;

/**
 * Posts once to a channel that was chosen, so that nothing is lost in one that the app is not in.
 * @throws Refusal `channel_unwritable`
 */
export const checkChannel = defineUseCase({
  name: 'settings',
  needs: 'owner',
  effect: 'reads',
  run: async (
    { channelId, purpose }: { channelId: ChannelId; purpose: ChannelPurpose },
    { actor, app },
  ): Promise<void> => {
    const posting = app.channelTest.post(actor.workspaceId, channelId, actor.userId, purpose);
    const posted = await withTimeout(posting, app.system, CHECK_TIMEOUT_MS);
    if (!posted) throw new Refusal('channel_unwritable', { reason: 'timeout' });
    if (!posted.isPosted) throw new Refusal('channel_unwritable', { reason: posted.reason });
  },
});
