import type { AlertBlock, AnyBlock, ModalView } from '@slack/types';
import { type Message, type MessageBlock, section } from '../kit/blocks.ts';
import { escapeText, shorten } from '../kit/text.ts';
import type { SlackAnswer } from './slack-api.ts';

/**
 * Sends a message; where Slack refuses it, the same without the blocks that Slack may not know on this surface; and where
 * it still refuses the blocks, the same words as plain text. A secret never becomes text, which notifications show.
 */
export async function withFallback<More>(
  message: Message,
  send: (message: Message) => Promise<SlackAnswer<More>>,
): Promise<SlackAnswer<More>> {
  const first = await send(message);
  if (first.ok) return first;
  const second = message.plainBlocks ? await send({ ...message, blocks: message.plainBlocks }) : first;
  if (second.ok || !refusesBlocks(second.error) || holdsSecret(message)) return second;
  return send({ text: plainText(message), blocks: [] });
}

/** `invalid_blocks`, `invalid_blocks_format`, `msg_blocks_too_long` and the like. */
function refusesBlocks(code: string): boolean {
  return /^(invalid|msg)_blocks/.test(code);
}

/** A root password stands in a preformatted block and nowhere else (docs/design.md 5). */
export function holdsSecret({ blocks }: Message): boolean {
  return blocks.some(({ type }) => type === 'rich_text');
}

/** What a message holds in one text of Slack's. */
const TEXT_MOST = 3000;

/** The words of a message, without its buttons. */
export function plainText(message: Message): string {
  const words = (message.plainBlocks ?? message.blocks).flatMap(wordsOf).filter((text) => text !== '');
  return shorten(words.length === 0 ? message.text : words.join('\n'), TEXT_MOST);
}

function wordsOf(block: MessageBlock): string[] {
  switch (block.type) {
    case 'header':
      return [escapeText(block.text.text)];
    case 'section':
      return [block.text, ...(block.fields ?? [])].map((part) => (part ? inMrkdwn(part) : ''));
    case 'context':
      return block.elements.map((element) => ('text' in element ? inMrkdwn(element) : ''));
    default:
      return [];
  }
}

function inMrkdwn({ type, text }: { readonly type: string; readonly text: string }): string {
  return type === 'mrkdwn' ? text : escapeText(text);
}

/**
 * Sends a view; where Slack refuses its blocks, the same with its warnings as paragraphs, since not every Slack takes an
 * `alert`.
 */
export async function withPlainView<More>(
  view: ModalView,
  send: (view: ModalView) => Promise<SlackAnswer<More>>,
): Promise<SlackAnswer<More>> {
  const first = await send(view);
  if (first.ok || !refusesView(first.error) || !view.blocks.some(({ type }) => type === 'alert'))
    return first;
  return send({ ...view, blocks: view.blocks.map(inPlain) });
}

/** Whether Slack's error is about what a view contains. */
export function refusesView(code: string): boolean {
  return code === 'invalid_arguments' || refusesBlocks(code);
}

function inPlain(block: AnyBlock): AnyBlock {
  return isAlert(block) ? section(`:warning: ${inMrkdwn(block.text)}`) : block;
}

function isAlert(block: AnyBlock): block is AlertBlock {
  return block.type === 'alert';
}
