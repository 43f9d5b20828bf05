import type { KnownBlock, ModalView } from '@slack/types';
import { isRefusal } from '../../domain/errors.ts';
import { textMessage } from '../kit/blocks.ts';
import { noticeView } from '../kit/form.ts';
import type { SubmitAnswer } from '../kit/modal.ts';
import type { SlackRequest } from './request.ts';

/** The answer to a submission in Slack's own form; undefined closes the modal. */
export type SubmissionAck =
  | { readonly response_action: 'update'; readonly view: ModalView }
  | { readonly response_action: 'errors'; readonly errors: Readonly<Record<string, string>> }
  | undefined;

/** The buttons that an error comes with: what the user can do about it. `typed` is the command that failed. */
export type NextSteps = (error: unknown, typed?: string) => KnownBlock[];

/** Features don't catch errors: here the user, and no one else, learns what went wrong. */
export async function sendError(
  error: unknown,
  request: SlackRequest,
  steps: readonly KnownBlock[],
): Promise<void> {
  await request.reply.send(textMessage(request.explain(error), ...steps));
}

/** The modal may have been closed since it was submitted: then a message says it. */
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

export function submissionAck(answer: SubmitAnswer, { note }: Pick<SlackRequest, 'note'>): SubmissionAck {
  const shown = answer.with ?? 'close';
  if (shown === 'close') return undefined;
  if ('errors' in shown) return { response_action: 'errors', errors: shown.errors };
  return { response_action: 'update', view: note.inView(shown) };
}

/** Shows the error beside the field that it is about, if there is one; otherwise in place of the form. */
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

/** Errors beside fields are plain text: no code marks, no entities. */
function plainWords(words: string): string {
  return words.replaceAll('`', '').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
