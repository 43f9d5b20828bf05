import { z } from 'zod';
import { textMessage } from '../../slack/kit/blocks.ts';
import type { Checkup } from './checkup.ts';
import { type Failure, problemOf } from './problem-words.ts';

const WHAT = 'Test message from the vps app: its operator ran `npm run check:slack`.';

/** What is posted. Each says what it is. */
export const TEST_MESSAGES = {
  posted: toFields(`${WHAT} It will be deleted right away.`),
  edited: toFields(`${WHAT} It was edited, and will be deleted right away.`),
  ephemeral: toFields(`${WHAT} Only you can see it, until Slack reloads.`),
};

function toFields(words: string) {
  const { text, blocks } = textMessage(words);
  return { text, blocks };
}

/** The place of a message. */
export interface Posted {
  readonly channel: string;
  readonly ts: string;
}

const posted = z.object({ channel: z.string(), ts: z.string() });

/** Posts a test message to a channel, or to a user by ID. */
export async function postMessage({ api }: Checkup, channel: string): Promise<Posted | Failure> {
  const answer = await api.call('chat.postMessage', {
    channel,
    ...TEST_MESSAGES.posted,
    unfurl_links: false,
    unfurl_media: false,
  });
  if (answer.kind !== 'accepted') return answer;
  return posted.safeParse(answer.body).data ?? { kind: 'unanswered', why: 'not_slack', number: 200 };
}

/** Deletes a test message, and says it if that fails. */
export async function deleteMessage(
  { api, report }: Checkup,
  check: string,
  { channel, ts }: Posted,
  place: string,
): Promise<void> {
  const answer = await api.call('chat.delete', { channel, ts });
  if (answer.kind === 'accepted') return report.ok(check, 'the test message is gone.');
  const { code, text } = problemOf('chat.delete', answer);
  report.failed(check, { code, text: `The test message is still ${place}: delete it there. ${text}` });
}
