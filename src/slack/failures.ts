import type { KnownBlock, ModalView } from '@slack/types';
import { DatabaseUnreachable, describeDefect, isExpected, isRefusal } from '../core/errors.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import { wordsOfError, wordsOfUnreachable } from '../words.ts';
import { type Message, type MessageBlock, textMessage } from './kit/blocks.ts';
import { noticeView } from './kit/form.ts';
import type { SubmitAnswer } from './kit/modal.ts';
import { decodeText, escapeText, shorten } from './kit/text.ts';
import type { SlackRequest } from './request.ts';
import type { SlackAnswer } from './slack-api.ts';

/** The answer to a submission in Slack's format; undefined closes the modal. */
export type SubmissionAck =
  | { readonly response_action: 'update'; readonly view: ModalView }
  | { readonly response_action: 'errors'; readonly errors: Readonly<Record<string, string>> }
  | undefined;

/** Makes the buttons that are shown with an error: what the user can do about it. `typed` is the command that failed. */
export type NextSteps = (error: unknown, typed?: string) => KnownBlock[];

/** Sends an error's words, with what the user can do, to the user alone. Features don't catch errors, so all end here. */
export async function sendError(
  error: unknown,
  request: SlackRequest,
  steps: readonly KnownBlock[],
): Promise<void> {
  await request.reply.send(textMessage(request.explain(error), ...steps));
}

/** Shows an error in a modal that was submitted, or in a message if the user has closed the modal. */
export async function showLateError(
  error: unknown,
  viewId: string,
  request: SlackRequest,
  steps: readonly KnownBlock[],
): Promise<void> {
  const words = request.explain(error);
  const { ok } = await request.views.update(viewId, noticeView('That didn’t work', words));
  if (!ok) await request.reply.send(textMessage(words, ...steps));
}

/** Writes the answer to a submission in Slack's format, with the note about a partial list. */
export function submissionAck(answer: SubmitAnswer, { note }: SlackRequest): SubmissionAck {
  const { with: shown } = answer;
  if (!shown) return undefined;
  if ('errors' in shown) return { response_action: 'errors', errors: shown.errors };
  return { response_action: 'update', view: note.inView(shown) };
}

/** Makes the ack that shows an error: beside the field that it is about, otherwise in place of the form. */
export function explainInModal(error: unknown, request: SlackRequest): SubmissionAck {
  const words = request.explain(error);
  const field = fieldOf(error);
  if (field !== undefined) return { response_action: 'errors', errors: { [field]: plainWords(words) } };
  return submissionAck({ with: noticeView('That didn’t work', words) }, request);
}

function fieldOf(error: unknown): string | undefined {
  if (isRefusal(error, 'bad_label')) return 'label';
  return isRefusal(error, 'unknown_choice') ? error.details.field : undefined;
}

/** Turns mrkdwn into plain text, which errors beside fields are: no code marks, no entities. */
export function plainWords(words: string): string {
  return decodeText(words.replaceAll('`', ''));
}

/** What explaining an error needs. */
export interface ExplainParts {
  readonly system: System;
  readonly log: Log;
}

/**
 * Puts an error into words, in escaped mrkdwn. A defect gets an incident ID, in the log and in the words; its own message is kept
 * out of both, since it may repeat what a user typed or what an answer contained. `hasBegun`: whether the request may have done
 * something before the error; absent if that is not known.
 */
export function explainError(
  error: unknown,
  {
    system,
    log,
    currency,
    hasBegun,
  }: ExplainParts & { readonly currency: string; readonly hasBegun?: boolean },
): string {
  if (isExpected(error)) return wordsOfError(error, currency);
  if (error instanceof DatabaseUnreachable) {
    log.error('a request could not reach the database', { cause: error.reason });
    return wordsOfUnreachable(hasBegun);
  }
  const incident = system.newId().slice(-8);
  log.error('an unexpected error occurred during a request', { incident, ...describeDefect(error) });
  return `Something went wrong (incident \`${incident}\`). Your admin can find it in the log.`;
}

/**
 * Sends a message. If Slack refuses it, sends its `plainBlocks`; if Slack refuses the blocks again, sends the words alone. A
 * secret never becomes text, which notifications show.
 */
export async function withFallback<More>(
  message: Message,
  send: (text: string, blocks: MessageBlock[]) => Promise<SlackAnswer<More>>,
): Promise<SlackAnswer<More>> {
  const { text } = message;
  const first = await send(text, message.blocks);
  if (first.ok) return first;
  const second = message.plainBlocks ? await send(text, message.plainBlocks) : first;
  if (second.ok || !refusesBlocks(second.error) || holdsSecret(message)) return second;
  return send(plainText(message), []);
}

/** Whether an error is about blocks: `invalid_blocks`, `invalid_blocks_format`, `msg_blocks_too_long` and the like. */
function refusesBlocks(code: string): boolean {
  return /^(invalid|msg)_blocks/.test(code);
}

/** Whether a message has a secret: a root password is always in a preformatted block (docs/design.md 5.2). */
export function holdsSecret({ blocks }: Message): boolean {
  return blocks.some(({ type }) => type === 'rich_text');
}

/** The longest text, in characters. */
const TEXT_MOST = 3000;

/** Returns the words of a message in mrkdwn, without its buttons, cut to 3,000 characters. */
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

/** Whether Slack's error is about what a view contains. */
export function refusesView(code: string): boolean {
  return code === 'invalid_arguments' || refusesBlocks(code);
}
