import type { KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { UseCaseSpec } from '../../app/authorize/use-case.ts';
import type { SlackRequest } from '../transport/request.ts';
import { plain } from './blocks.ts';
import { enteredState, type FieldKinds, fieldsOf, readEntered } from './fields.ts';
import { LIMITS } from './limits.ts';
import { shorten } from './text.ts';
import { parseWritten } from './written.ts';

/** Where a form was opened: its id finds the reply path that is kept, sealed, on our side. */
export interface Origin {
  readonly formId: string;
  readonly channelId?: string;
}

/** What is answered to a submission, and what is done after the answer has left. */
export interface SubmitAnswer {
  /** `close` (default) closes it; a view replaces it; errors stand beside their fields. */
  readonly with?: 'close' | ModalView | { readonly errors: Readonly<Record<string, string>> };
  readonly after?: () => Promise<void>;
}

export interface Submission<Metadata, Fields> {
  readonly fields: Fields;
  readonly metadata: Metadata;
  readonly origin: Origin;
  readonly viewId: string;
}

/** A modal with both its ends. */
export interface ModalKind<Metadata, Fields> extends FieldKinds<Fields> {
  readonly id: string;
  view(parts: {
    origin: Origin;
    metadata: Metadata;
    title: string;
    submit: string;
    close?: string;
    blocks: KnownBlock[];
  }): ModalView;
  /** Asks at the entry whether `needs` may be done, before anything of what was entered is looked at. */
  onSubmit(
    needs: UseCaseSpec,
    run: (submission: Submission<Metadata, Fields>, request: SlackRequest) => Promise<SubmitAnswer>,
  ): ModalHandler;
}

export interface ModalHandler {
  readonly id: string;
  run(view: SubmittedView, request: SlackRequest): Promise<SubmitAnswer>;
}

/** The parts of a submitted view that are read; the rest is Slack's. */
export const submittedView = z.object({
  id: z.string(),
  callback_id: z.string(),
  private_metadata: z.string().default(''),
  state: z.object({ values: enteredState }).default({ values: {} }),
});
export type SubmittedView = z.output<typeof submittedView>;

/** Defines a modal: its id, its metadata and its fields are written here and nowhere else. */
export function defineModal<Metadata, Fields extends Record<string, string | undefined>>(
  id: string,
  metadata: z.ZodType<Metadata>,
  fields: z.ZodType<Fields>,
): ModalKind<Metadata, Fields> {
  return {
    id,
    ...fieldsOf<Fields>(id),
    view: (parts) => ({
      type: 'modal',
      callback_id: id,
      private_metadata: JSON.stringify({ o: parts.origin, m: parts.metadata }),
      title: plain(shorten(parts.title, LIMITS.viewTitle)),
      submit: plain(shorten(parts.submit, LIMITS.viewTitle)),
      close: plain(parts.close ?? 'Cancel'),
      blocks: parts.blocks,
    }),
    onSubmit: (needs, run) => ({
      id,
      run: async (view, request) => {
        await request.authorize(needs);
        const envelope = parseWritten(view.private_metadata, envelopeOf(metadata));
        const parsed = fields.safeParse(readEntered(view.state.values));
        if (!parsed.success) return { with: { errors: errorsOf(parsed.error) } };
        const { o: origin, m } = envelope;
        return run({ fields: parsed.data, metadata: m as Metadata, origin, viewId: view.id }, request);
      },
    }),
  };
}

/** Reads where a form was opened, before anything else of it is known; undefined when the modal is not one of ours. */
export function findOrigin(privateMetadata: string): Origin | undefined {
  try {
    return parseWritten(privateMetadata, envelopeOf(z.unknown())).o;
  } catch {
    return undefined;
  }
}

function envelopeOf<Metadata>(metadata: z.ZodType<Metadata>) {
  const origin = z.object({ formId: z.string(), channelId: z.string().exactOptional() });
  return z.object({ o: origin, m: metadata });
}

function errorsOf(error: z.ZodError): Record<string, string> {
  return Object.fromEntries(error.issues.map((issue) => [String(issue.path[0]), issue.message]));
}
