import type { InputBlock, KnownBlock, ModalView, PlainTextOption } from '@slack/types';
import { z } from 'zod';
import type { SlackRequest } from '../request.ts';
import { plain } from './blocks.ts';
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
export interface ModalKind<Metadata, Fields> {
  readonly id: string;
  view(parts: {
    origin: Origin;
    metadata: Metadata;
    title: string;
    submit: string;
    close?: string;
    blocks: KnownBlock[];
  }): ModalView;
  textField(
    name: keyof Fields & string,
    look: { label: string; initial?: string; placeholder?: string; hint?: string; maxLength?: number },
  ): InputBlock;
  selectField(
    name: keyof Fields & string,
    look: { label: string; options: readonly PlainTextOption[]; initial?: string; placeholder: string },
  ): InputBlock;
  onSubmit(
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
  state: z
    .object({ values: z.record(z.string(), z.record(z.string(), z.unknown())) })
    .default({ values: {} }),
});
export type SubmittedView = z.output<typeof submittedView>;

/** Defines a modal: its id, its metadata and its fields are written here and nowhere else. */
export function defineModal<Metadata, Fields extends Record<string, string>>(
  id: string,
  metadata: z.ZodType<Metadata>,
  fields: z.ZodType<Fields>,
): ModalKind<Metadata, Fields> {
  return {
    id,
    view: (parts) => ({
      type: 'modal',
      callback_id: id,
      private_metadata: JSON.stringify({ o: parts.origin, m: parts.metadata }),
      title: plain(shorten(parts.title, 24)),
      submit: plain(shorten(parts.submit, 24)),
      close: plain(parts.close ?? 'Cancel'),
      blocks: parts.blocks,
    }),
    textField: (name, look) => ({
      type: 'input',
      block_id: name,
      label: plain(look.label),
      ...(look.hint ? { hint: plain(look.hint) } : {}),
      element: {
        type: 'plain_text_input',
        action_id: actionOf(id, name),
        ...(look.initial ? { initial_value: look.initial } : {}),
        ...(look.placeholder ? { placeholder: plain(look.placeholder) } : {}),
        ...(look.maxLength ? { max_length: look.maxLength } : {}),
      },
    }),
    selectField: (name, look) => ({
      type: 'input',
      block_id: name,
      label: plain(look.label),
      element: selectElement(actionOf(id, name), look),
    }),
    onSubmit: (run) => ({
      id,
      run: async (view, request) => {
        const envelope = parseWritten(view.private_metadata, envelopeOf(metadata));
        const parsed = fields.safeParse(valuesOf(view));
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

/** Finds which modal and field a type-ahead menu belongs to. */
export function fieldOfAction(
  actionId: string,
): { readonly modal: string; readonly field: string } | undefined {
  const match = /^([a-z_]+)\.([a-z_]+)$/.exec(actionId);
  return match ? { modal: match[1] ?? '', field: match[2] ?? '' } : undefined;
}

function actionOf(modal: string, field: string): string {
  return `${modal}.${field}`;
}

function envelopeOf<Metadata>(metadata: z.ZodType<Metadata>) {
  const origin = z.object({ formId: z.string(), channelId: z.string().exactOptional() });
  return z.object({ o: origin, m: metadata });
}

/** Slack's menus hold 100 choices; longer ones are asked for while the person types. */
const MENU_MOST = 100;

function selectElement(
  actionId: string,
  look: { options: readonly PlainTextOption[]; initial?: string; placeholder: string },
): InputBlock['element'] {
  const chosen = look.options.find(({ value }) => value === look.initial);
  const shared = {
    action_id: actionId,
    placeholder: plain(look.placeholder),
    ...(chosen ? { initial_option: chosen } : {}),
  };
  return look.options.length > MENU_MOST
    ? { type: 'external_select', min_query_length: 0, ...shared }
    : { type: 'static_select', options: [...look.options], ...shared };
}

const fieldState = z.object({
  value: z.string().nullish(),
  selected_option: z.object({ value: z.string() }).nullish(),
});

function valuesOf(view: SubmittedView): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, actions] of Object.entries(view.state.values)) {
    const state = fieldState.safeParse(Object.values(actions)[0]);
    const value = state.success ? (state.data.selected_option?.value ?? state.data.value) : undefined;
    if (typeof value === 'string') values[name] = value;
  }
  return values;
}

function errorsOf(error: z.ZodError): Record<string, string> {
  return Object.fromEntries(error.issues.map((issue) => [String(issue.path[0]), issue.message]));
}
