import type { Card } from '../../domain/decision.ts';
import type { Message } from '../kit/blocks.ts';
import { withFallback } from './fallback.ts';
import type { SlackApi } from './slack-api.ts';

/** One request must not flood Slack or the team. */
const MOST_CARDS = 10;

/**
 * Posts the same message to users and channels side by side, each once, ten at most.
 * Recipients that can't be reached are left out, which is no error.
 */
export async function postCards(
  recipients: readonly string[],
  message: Message,
  slack: SlackApi,
): Promise<readonly Card[]> {
  const chosen = [...new Set(recipients)].slice(0, MOST_CARDS);
  const answers = await Promise.all(
    chosen.map((recipient) => withFallback(message, (shown) => slack.post(recipient, shown))),
  );
  return answers.flatMap((answer) => (answer.ok ? [{ channelId: answer.channelId, ts: answer.ts }] : []));
}

/**
 * Shows another message in place of the cards, side by side; one that is gone is left alone. Returns whether Slack took
 * all of them.
 */
export async function editCards(cards: readonly Card[], message: Message, slack: SlackApi): Promise<boolean> {
  const answers = await Promise.all(
    cards.map((card) => withFallback(message, (shown) => slack.updateMessage(card, shown))),
  );
  return answers.every(({ ok }) => ok);
}
