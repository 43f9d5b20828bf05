import { Refusal } from '../../domain/errors.ts';
import type { ChannelId } from '../../domain/ids.ts';
import type { System } from '../../system.ts';
import { useCasesOver } from '../authorize/use-case.ts';
import { withTimeout } from '../with-timeout.ts';
import type { ChannelTest } from './ports.ts';

const defineUseCase = useCasesOver<{ readonly system: System; readonly channelTest: ChannelTest }>();

/** Slack wants the answer to a form within 3 s. */
const CHECK_TIMEOUT_MS = 2000;

/**
 * Posts once to a channel that was chosen for approval requests, so that no request is lost in one that the app is not in.
 * @throws Refusal `channel_unwritable`
 */
export const checkChannel = defineUseCase({
  name: 'settings',
  needs: 'owner',
  effect: 'reads',
  run: async (input: { channelId: ChannelId }, { actor, ports }): Promise<void> => {
    const posting = ports.channelTest.post(actor.workspaceId, input.channelId, actor.userId);
    const posted = await withTimeout(posting, ports.system, CHECK_TIMEOUT_MS);
    if (!posted) throw new Refusal('channel_unwritable', { reason: 'timeout' });
    if (!posted.isPosted) throw new Refusal('channel_unwritable', { reason: posted.reason });
  },
});
