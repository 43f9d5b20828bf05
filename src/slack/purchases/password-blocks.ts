import type { Button, KnownBlock } from '@slack/types';
import type { HeldPassword } from '../../app/purchases/ports.ts';
import { HOUR_MS, MINUTE_MS } from '../../domain/time.ts';
import {
  actions,
  confirmation,
  context,
  type Message,
  preformatted,
  section,
  textMessage,
} from '../kit/blocks.ts';
import { LIMITS } from '../kit/limits.ts';
import { codeLabel, count, plainLabel, slackDate, splitText } from '../kit/text.ts';
import { savedButton } from './buttons.ts';

/** Slack refuses messages above about 12,000 characters, and doesn't document whether it counts them escaped or in bytes. */
const BLOCKS_IN_MESSAGE = 2;

/**
 * The password itself, in blocks in which nothing is read as formatting, with the button that erases it. Returns the blocks of
 * each message: an answer in which no password was recognized may need three.
 */
export function passwordParts(held: HeldPassword, words: string, ...more: Button[]): KnownBlock[][] {
  const { operationId, label } = held;
  const texts = splitText(held.password.reveal(), LIMITS.preformatted);
  const parts = Math.ceil(texts.length / BLOCKS_IN_MESSAGE);
  return Array.from({ length: parts }, (_, at) => {
    const part = parts === 1 ? '' : `, part ${at + 1} of ${parts}`;
    const shown = texts.slice(at * BLOCKS_IN_MESSAGE, (at + 1) * BLOCKS_IN_MESSAGE);
    const head = section(`*Root password of* ${codeLabel(label)}${part} (only you can see this):`);
    if (at < parts - 1) return [head, ...shown.map(preformatted)];
    const saved = { style: 'primary', confirm: confirmSaved(label) } as const;
    return [
      head,
      ...shown.map(preformatted),
      context(`Save it in your password manager now. ${words}`),
      actions(savedButton.element("I've saved it", { operationId }, saved), ...more),
    ];
  });
}

/** How to see it again. Mentions no time limit, since none starts until its creator asks for it. */
export function againWords({ serverId }: HeldPassword): string {
  return `\`/vps password ${serverId}\` shows it again.`;
}

function confirmSaved(label: string) {
  return confirmation({
    title: 'Erase the root password?',
    text: `The root password of ${plainLabel(label, 60)} will be erased here. The hosting API can’t show it again.`,
    confirm: 'Erase',
    isDangerous: true,
  });
}

/**
 * A held root password for its creator, who has asked for it; the messages' texts contain nothing of it. `holdMs`: how long
 * it is held once Slack has accepted these messages, if no time limit runs yet.
 */
export function passwordMessages(held: HeldPassword, holdMs: number): Message[] {
  const { serverId, label, heldUntil } = held;
  const least =
    holdMs < 2 * HOUR_MS
      ? count(Math.floor(holdMs / MINUTE_MS), 'minute')
      : count(Math.floor(holdMs / HOUR_MS), 'hour');
  const time = heldUntil === undefined ? `for at least ${least}` : `until ${slackDate(heldUntil)}`;
  const words = `\`/vps password ${serverId}\` shows it again ${time}, unless you press *I’ve saved it*.`;
  const text = `Root password of ${codeLabel(label)}`;
  return passwordParts(held, words).map((blocks) => ({ text, blocks }));
}

/** Sends messages in order, and stops at the first that Slack doesn't accept. True if Slack accepted them all. */
export async function sendAll(
  messages: readonly Message[],
  reply: { send(message: Message): Promise<boolean> },
): Promise<boolean> {
  for (const message of messages) if (!(await reply.send(message))) return false;
  return true;
}

/** Replaces the password once it is saved. */
export function erasedMessage(label: string, ipv4: string | undefined): Message {
  const parts = [codeLabel(label), ...(ipv4 === undefined ? [] : [`\`${ipv4}\``]), 'password erased'];
  return textMessage(parts.join(' · '));
}
