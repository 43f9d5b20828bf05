import { textMessage } from '../kit/blocks.ts';
import type { SlackRequest } from './request.ts';

/** Tells the user that the hosting API's rate limit delays this; for calls that wait for more than 5 s. */
export function sendWaiting(request: SlackRequest): () => void {
  return () => {
    void request.reply.send(
      textMessage(
        'We’ve hit the hosting API’s rate limit. Your request is queued and will run automatically.',
      ),
    );
  };
}
