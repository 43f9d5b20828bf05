import type { Message } from '../kit/blocks.ts';
import type { SlackAnswer } from './slack-api.ts';

/** One more try without the blocks that Slack may not know on this surface. */
export async function withFallback<More>(
  message: Message,
  send: (message: Message) => Promise<SlackAnswer<More>>,
): Promise<SlackAnswer<More>> {
  const first = await send(message);
  if (first.ok || !message.plainBlocks) return first;
  return send({ ...message, blocks: message.plainBlocks });
}
