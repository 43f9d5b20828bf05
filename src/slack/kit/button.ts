import type { Button, ConfirmationDialog, ExternalSelect, PlainTextOption, StaticSelect } from '@slack/types';
import { z } from 'zod';
import type { SlackRequest } from '../request.ts';
import { LIMITS, plain } from './blocks.ts';
import { parseJson } from './fields.ts';
import { shorten } from './text.ts';

/** How a button looks. Screen readers read `label` in place of the text. */
interface ButtonOptions {
  readonly style?: 'primary' | 'danger';
  readonly confirm?: ConfirmationDialog | undefined;
  readonly label?: string;
}

/** Handles the presses of a button, or the choices of a menu, with this ID. */
export interface ActionHandler {
  readonly id: string;
  /** @throws Refusal `unreadable_press` if the value is not what this version writes; and what the feature throws */
  run(value: string, request: SlackRequest): Promise<void>;
}

/** Defines a kind of button, whose value is written and read with one schema. The ID is written here and nowhere else. */
export function defineButton<Value>(id: string, schema: z.ZodType<Value>) {
  return {
    id,
    /** Makes the button. Its value as JSON must fit into 2,000 characters. */
    element: (text: string, value: Value, { style, confirm, label }: ButtonOptions = {}): Button => ({
      type: 'button',
      action_id: id,
      text: plain(shorten(text, LIMITS.buttonText)),
      value: JSON.stringify(value),
      style,
      confirm,
      accessibility_label: label && shorten(label, LIMITS.accessibilityLabel),
    }),
    /** Makes the handler of its presses, to be listed in a command. */
    on: (run: (value: Value, request: SlackRequest) => Promise<void>): ActionHandler => ({
      id,
      run: async (value, request) => run(parseJson(value, schema), request),
    }),
  };
}

/** Defines a kind of menu in a message. The ID is written here and nowhere else. */
export function defineChoice(id: string) {
  return {
    id,
    /** Makes a menu of up to 100 choices. */
    menu: (
      placeholder: string,
      options: readonly PlainTextOption[],
      confirm?: ConfirmationDialog,
    ): StaticSelect => ({
      type: 'static_select',
      action_id: id,
      placeholder: plain(placeholder),
      options: [...options],
      confirm,
    }),
    /** Makes a menu of any number of choices, for which Slack asks while the user types (`Suggestions`). */
    typeAhead: (placeholder: string, confirm?: ConfirmationDialog): ExternalSelect => ({
      type: 'external_select',
      action_id: id,
      placeholder: plain(placeholder),
      min_query_length: 0,
      confirm,
    }),
    on: (run: ActionHandler['run']): ActionHandler => ({ id, run }),
  };
}

export const pageNumber = z.number().int().min(0);

/** What a button to another page carries. `filter`: what the items on all pages match. */
const turn = z.object({ page: pageNumber, filter: z.string().exactOptional() });
export type Turn = z.output<typeof turn>;

export function pageOf<Item>(items: readonly Item[], asked: number, size: number) {
  const pages = Math.max(1, Math.ceil(items.length / size));
  const page = Math.min(asked, pages - 1);
  const from = page * size;
  return { page, pages, from, shown: items.slice(from, from + size) };
}

/** Defines the buttons that turn pages. Their IDs differ, since Slack refuses two buttons with the same ID in one row. */
export function definePages(name: string) {
  const back = defineButton(`${name}_back`, turn);
  const next = defineButton(`${name}_page`, turn);
  return {
    buttons: (
      { page, pages }: { readonly page: number; readonly pages: number },
      filter?: string,
    ): Button[] => [
      ...(page > 0 ? [back.element('Previous', { page: page - 1, filter })] : []),
      ...(page < pages - 1 ? [next.element('Next', { page: page + 1, filter })] : []),
    ],
    on: (run: (to: Turn, request: SlackRequest) => Promise<void>): ActionHandler[] => [
      back.on(run),
      next.on(run),
    ],
  };
}
