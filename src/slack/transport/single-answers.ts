import type { Actor } from '../../domain/actor.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Message } from '../kit/blocks.ts';
import { withFallback } from './fallback.ts';
import { isProven } from './single-posts.ts';
import type { SlackAnswer } from './slack-api.ts';
import type { SlackClients } from './slack-clients.ts';

/** Where a user wrote to the app, in a channel or in their own conversation with it. */
interface Written extends Required<Pick<Actor, 'workspaceId' | 'userId' | 'channelId'>> {
  readonly kind: 'mention' | 'direct_message';
  readonly thread?: Thread | undefined;
}

/** An answer that must not be given twice. */
export interface SingleAnswers {
  /**
   * Answers where the user wrote: in a channel only to them, and directly if Slack doesn't let the app do that. `refused`:
   * Slack has proven that nothing was shown; `done`: anything else.
   */
  answerOnce(to: Written, message: Message): Promise<'done' | 'refused'>;
}

export function createSingleAnswers(clients: SlackClients): SingleAnswers {
  return {
    answerOnce: async (to, message) => {
      const { workspaceId, userId, channelId, kind, thread } = to;
      const slack = clients.of(workspaceId);
      const post = (id: string, threadTs?: string) =>
        withFallback(message, (shown) => slack.post(id, shown, threadTs));
      if (kind === 'direct_message') return standing(await post(channelId, thread?.ts));
      const threadTs = thread?.isOpen ? thread.ts : undefined;
      const shown = await withFallback(message, (each) =>
        slack.postEphemeral(channelId, userId, each, threadTs),
      );
      // Slack accepts it later, so it isn't sent as a direct message instead.
      const isLimited = !shown.ok && shown.retryAfterMs !== undefined;
      return standing(shown) === 'done' || isLimited ? standing(shown) : standing(await post(userId));
    },
  };
}

function standing(answer: SlackAnswer): 'done' | 'refused' {
  return answer.ok || !isProven(answer.error) ? 'done' : 'refused';
}
