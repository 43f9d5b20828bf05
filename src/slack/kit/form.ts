import type { ModalView } from '@slack/types';
import { z } from 'zod';
import type { UseCaseSpec } from '../../core/entry.ts';
import { choicesOf } from '../../core/errors.ts';
import type { ChannelId, ConfirmationId, Thread, WorkspaceId } from '../../core/ids.ts';
import type { Server } from '../../core/server.ts';
import type { SlackRequest } from '../request.ts';
import { actions, context, LIMITS, plain, section, textMessage } from './blocks.ts';
import { defineButton } from './button.ts';
import type { Suggestions } from './command.ts';
import { serverOption } from './fields.ts';
import { defineModal } from './modal.ts';
import { shorten } from './text.ts';

interface FormParts<Input> {
  readonly id: string;
  readonly title: string;
  readonly input: z.ZodType<Input>;
  /** The use case whose permission is checked before anything opens. */
  readonly needs: UseCaseSpec;
  /** Makes the input for a server that was chosen among several. */
  pick?(id: number): Input;
  /** Lists the servers to choose among; undefined if the input names one. */
  choose?(
    input: Input | { readonly filter: string },
    request: SlackRequest,
  ): Promise<readonly Server[] | undefined>;
  load(input: Input, request: SlackRequest, origin: Origin): Promise<ModalView>;
}

const CUT_NOTE = 'Showing the first 100. Type more of the label or ID to narrow the list.';

const NOT_OPENED = 'If the form isn’t open, or stays on “Loading…”, press the button to open it.';

/**
 * Defines a modal that is filled from the hosting API: opened at once with a loading view, since its trigger expires after 3 s. Money
 * effect: none; the ID of its origin becomes the ID of the operation that is confirmed in it.
 */
export function defineForm<Input>(parts: FormParts<Input>) {
  const button = defineButton(`open_${parts.id}`, parts.input);
  const picker = definePicker(parts.id);
  const fill = async (viewId: string, input: Input, request: SlackRequest, origin: Origin) =>
    fillView(viewId, await loadOrExplain(parts, picker, input, request, origin), parts.title, request);
  /** Checks the permission, opens the modal, and fills it. @throws Refusal as `SlackRequest.authorize` does */
  const open = async (input: Input, request: SlackRequest): Promise<void> => {
    await request.authorize(parts.needs);
    const viewId = await openView(loadingView(parts.title), request);
    if (viewId === undefined) {
      // A press of this button comes with a new trigger.
      const again = actions(button.element(`${parts.title}…`, input, { style: 'primary' }));
      await request.reply.send(textMessage(NOT_OPENED, again));
      return;
    }
    const origin = await request.views.storeOrigin();
    await fill(viewId, input, request, origin);
  };
  const pickHandler = picker.onSubmit(parts.needs, async ({ fields, origin, viewId }, request) => {
    const input = parts.pick?.(Number(fields.server));
    if (input === undefined) return {};
    return { with: loadingView(parts.title), after: () => fill(viewId, input, request, origin) };
  });
  /** Finds the servers for the menu of that choice while the user types. */
  const pickSuggestions: Suggestions = {
    id: `${picker.id}.server`,
    find: async (filter, request) =>
      ((await parts.choose?.({ filter }, request)) ?? []).slice(0, LIMITS.options).map(serverOption),
  };
  return {
    open,
    /** Makes the view alone, for a modal that is already open. */
    load: parts.load,
    button,
    handler: button.on(open),
    pickHandler,
    pickSuggestions,
  };
}

/** Opens a view in place of the card whose button was pressed, otherwise as a modal of its own. Returns its ID, if known. */
async function openView(view: ModalView, { modal, views }: SlackRequest): Promise<string | undefined> {
  if (!modal?.isCard) return views.open(view);
  const shown = await views.update(modal.viewId, view);
  return shown.ok ? modal.viewId : undefined;
}

type Picker = ReturnType<typeof definePicker>;

/** Defines the modal that asks which of several servers a form is for. */
export function definePicker(formId: string) {
  return defineModal(`pick_${formId}`, z.object({}), z.object({ server: z.string().regex(/^\d+$/) }));
}

/** Loads the view of a form; for an error, a view that explains it or offers a choice. Never throws an expected error. */
async function loadOrExplain<Input>(
  parts: FormParts<Input>,
  picker: Picker,
  input: Input,
  request: SlackRequest,
  origin: Origin,
): Promise<ModalView> {
  try {
    const servers = await parts.choose?.(input, request);
    if (servers?.length === 0) return noticeView(parts.title, 'There are no servers to choose from.');
    if (servers) return pickView(parts.title, picker, 'Which server?', servers, origin, { isSearched: true });
    return await parts.load(input, request, origin);
  } catch (error) {
    const choices = parts.pick ? choicesOf(error) : [];
    if (choices.length > 0) return pickView(parts.title, picker, request.explain(error), choices, origin);
    return noticeView(parts.title, request.explain(error));
  }
}

/** Makes the view that asks which server is meant. Offers the first 100; with `isSearched` all, while the user types. */
export function pickView(
  title: string,
  picker: Picker,
  words: string,
  servers: readonly Server[],
  origin: Origin,
  { isSearched = false } = {},
): ModalView {
  const options = servers.slice(0, LIMITS.options).map(serverOption);
  const isCut = servers.length > options.length;
  const field = picker.selectField('server', {
    label: 'Server',
    options,
    placeholder: isSearched && isCut ? 'Type to search' : 'Choose a server',
    typeAhead: isSearched && isCut,
  });
  const note = isCut && !isSearched ? [context(CUT_NOTE)] : [];
  return picker.view({
    origin,
    metadata: {},
    title,
    submit: 'Continue',
    blocks: [section(words), field, ...note],
  });
}

/** Shows a view in an open modal. If Slack refuses it, says so there, or in a message if that fails, too. */
export async function fillView(
  viewId: string,
  view: ModalView,
  title: string,
  request: SlackRequest,
): Promise<void> {
  const filled = await request.views.update(viewId, view);
  // `not_found`: the user has closed the modal.
  if (filled.ok || filled.error === 'not_found') return;
  const words = 'Slack didn’t accept this form, so nothing was done. Try again in a moment.';
  const shown = await request.views.update(viewId, noticeView(title, words));
  if (!shown.ok) await request.reply.send(textMessage(words));
}

/** Makes a modal that only shows paragraphs of mrkdwn. */
export function noticeView(title: string, ...paragraphs: string[]): ModalView {
  return {
    type: 'modal',
    title: plain(shorten(title, LIMITS.viewTitle)),
    close: plain('Close'),
    blocks: paragraphs.map((text) => section(text)),
  };
}

export function loadingView(title: string, words = 'Loading…'): ModalView {
  return noticeView(title, words);
}

/** Where a form was opened. The form's metadata carries it. */
export interface Origin {
  /** The ID of what is confirmed in the form; the reply URL is stored under it, sealed. */
  readonly formId: ConfirmationId;
  readonly channelId?: ChannelId;
  readonly thread?: Thread;
  /** Whether it was opened on Home, which is no channel: an order then asks where to announce its outcome. */
  readonly isHome?: true;
  /** Present where the app is installed for a whole organization (`stampView` in blocks.ts). */
  readonly workspaceId?: WorkspaceId;
}
