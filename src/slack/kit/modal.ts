import type { KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { UseCaseSpec } from '../../core/entry.ts';
import type { SlackRequest } from '../request.ts';
import { LIMITS, plain } from './blocks.ts';
import { channelId, enteredState, fieldsOf, parseJson, parseValue, readEntered } from './fields.ts';
import type { Origin } from './form.ts';
import { readJson, shorten } from './text.ts';

/** The answer to a submission, and the rest of the work. */
export interface SubmitAnswer {
  /** A view replaces the modal, and errors appear beside their fields; without either, it closes. */
  readonly with?: ModalView | { readonly errors: Readonly<Record<string, string>> };
  /** The rest of the work. It starts before the answer is sent: a view that it shows within a second replaces `with`. */
  readonly after?: () => Promise<void>;
}

export interface Submission<Metadata, Fields> {
  readonly fields: Fields;
  readonly metadata: Metadata;
  readonly origin: Origin;
  readonly viewId: string;
}

export type ModalKind<Metadata, Fields extends Record<string, string | undefined>> = ReturnType<
  typeof defineModal<Metadata, Fields>
>;

export interface ModalHandler {
  readonly id: string;
  /** @throws Refusal of the permission check, `unreadable_press`; and what the feature throws */
  run(view: z.output<typeof submittedView>, request: SlackRequest): Promise<SubmitAnswer>;
}

/** The shape of a submitted view: the parts that the app reads. */
export const submittedView = z.object({
  id: z.string(),
  callback_id: z.string(),
  private_metadata: z.string().default(''),
  state: z.object({ values: enteredState }).default({ values: {} }),
});

/** Defines a kind of modal. Its ID, metadata and fields are written here and nowhere else. */
export function defineModal<Metadata, Fields extends Record<string, string | undefined>>(
  id: string,
  metadata: z.ZodType<Metadata>,
  fields: z.ZodType<Fields>,
) {
  return {
    id,
    ...fieldsOf<Fields>(id),
    /** Makes the view. Titles are cut to 24 characters. */
    view(parts: {
      origin: Origin;
      metadata: Metadata;
      title: string;
      submit: string;
      blocks: KnownBlock[];
    }): ModalView {
      return {
        type: 'modal',
        callback_id: id,
        private_metadata: JSON.stringify({ o: parts.origin, m: parts.metadata }),
        title: plain(shorten(parts.title, LIMITS.viewTitle)),
        submit: plain(shorten(parts.submit, LIMITS.viewTitle)),
        close: plain('Cancel'),
        blocks: parts.blocks,
      };
    },
    /** Makes the handler of submissions, which checks the permission for `needs` before it reads what was entered. */
    onSubmit: (
      needs: UseCaseSpec,
      run: (submission: Submission<Metadata, Fields>, request: SlackRequest) => Promise<SubmitAnswer>,
    ): ModalHandler => ({
      id,
      run: async (view, request) => {
        await request.authorize(needs);
        const { o: origin, m } = parseJson(view.private_metadata, envelope);
        const written = parseValue(m, metadata);
        const parsed = fields.safeParse(readEntered(view.state.values));
        if (!parsed.success) {
          const errors = parsed.error.issues.map(({ path, message }) => [String(path[0]), message]);
          return { with: { errors: Object.fromEntries(errors) } };
        }
        return run({ fields: parsed.data, metadata: written, origin, viewId: view.id }, request);
      },
    }),
  };
}

export function findOrigin(privateMetadata: string): Origin | undefined {
  return envelope.safeParse(readJson(privateMetadata)).data?.o;
}

/** The shape of a modal's metadata: `o` is its origin, `m` its own part. */
const envelope = z.object({
  o: z.object({
    formId: z.string().min(1),
    channelId: channelId.exactOptional(),
    thread: z.object({ ts: z.string(), isOpen: z.boolean() }).exactOptional(),
    workspaceId: z.string().exactOptional(),
    isHome: z.literal(true).exactOptional(),
  }),
  m: z.unknown(),
});
