import { textMessage } from '../kit/blocks.ts';
import type { SlackRequest } from './request.ts';

/** Says that the limit of requests per minute holds this up; for calls that wait for more than 5 s. */
export function sendWaiting(request: SlackRequest): () => void {
  return () => {
    void request.reply.send(
      textMessage(
        'The hosting API’s requests of this minute are used up. This is waiting for its place and goes on by itself.',
      ),
    );
  };
}
