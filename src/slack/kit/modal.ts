import type { KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { UseCaseSpec } from '../../core/entry.ts';
import type { SlackRequest } from '../request.ts';
import { LIMITS, plain } from './blocks.ts';
import { enteredState, type FieldKinds, fieldsOf, parseJson, parseValue, readEntered } from './fields.ts';
import type { Origin } from './form.ts';
import { shorten } from './text.ts';

/** The answer to a submission, and what is done after it was sent. */
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

/** A modal that is written and read in one place. */
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
  /** Checks the permission for `needs` before anything that was entered is read. */
  onSubmit(
    needs: UseCaseSpec,
    run: (submission: Submission<Metadata, Fields>, request: SlackRequest) => Promise<SubmitAnswer>,
  ): ModalHandler;
}

export interface ModalHandler {
  readonly id: string;
  run(view: SubmittedView, request: SlackRequest): Promise<SubmitAnswer>;
}

/** The parts of a submitted view that the app reads. */
export const submittedView = z.object({
  id: z.string(),
  callback_id: z.string(),
  private_metadata: z.string().default(''),
  state: z.object({ values: enteredState }).default({ values: {} }),
});
type SubmittedView = z.output<typeof submittedView>;

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
        const { o: origin, m } = parseJson(view.private_metadata, envelope);
        const written = parseValue(m, metadata);
        const parsed = fields.safeParse(readEntered(view.state.values));
        if (!parsed.success) return { with: { errors: errorsOf(parsed.error) } };
        return run({ fields: parsed.data, metadata: written, origin, viewId: view.id }, request);
      },
    }),
  };
}

/** Reads where a form was opened, before anything else in it is read; undefined if the modal is not one of ours. */
export function findOrigin(privateMetadata: string): Origin | undefined {
  try {
    return parseJson(privateMetadata, envelope).o;
  } catch {
    return undefined;
  }
}

/** A modal's metadata: `o` is its origin, `m` its own part. */
const envelope = z.object({
  o: z.object({
    formId: z.string(),
    channelId: z.string().exactOptional(),
    thread: z.object({ ts: z.string(), isOpen: z.boolean() }).exactOptional(),
    workspaceId: z.string().exactOptional(),
    isHome: z.literal(true).exactOptional(),
  }),
  m: z.unknown(),
});

function errorsOf(error: z.ZodError): Record<string, string> {
  return Object.fromEntries(error.issues.map((issue) => [String(issue.path[0]), issue.message]));
}
