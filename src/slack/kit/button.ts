import type { Button, ConfirmationDialog, ExternalSelect, PlainTextOption, StaticSelect } from '@slack/types';
import type { z } from 'zod';
import type { SlackRequest } from '../request.ts';
import { LIMITS, plain } from './blocks.ts';
import { parseJson } from './fields.ts';
import { shorten } from './text.ts';

/** How a button looks; `label` is read aloud instead of its text. */
interface ButtonOptions {
  readonly style?: 'primary' | 'danger';
  readonly confirm?: ConfirmationDialog | undefined;
  readonly label?: string;
}

/** A button whose value is written and read with the same schema. */
interface ButtonKind<Value> {
  readonly id: string;
  element(text: string, value: Value, options?: ButtonOptions): Button;
  on(run: (value: Value, request: SlackRequest) => Promise<void>): ActionHandler;
}

/** What happens when a button is pressed or a choice is made. */
export interface ActionHandler {
  readonly id: string;
  /** @throws Refusal `unreadable_press` when the value is not what this version writes */
  run(value: string, request: SlackRequest): Promise<void>;
}

/** Defines a button: its id is written here and nowhere else. */
export function defineButton<Value>(id: string, schema: z.ZodType<Value>): ButtonKind<Value> {
  return {
    id,
    element: (text, value, { style, confirm, label } = {}) => ({
      type: 'button',
      action_id: id,
      text: plain(shorten(text, LIMITS.buttonText)),
      value: JSON.stringify(value),
      style,
      confirm,
      accessibility_label: label && shorten(label, LIMITS.accessibilityLabel),
    }),
    on: (run) => ({ id, run: async (value, request) => run(parseJson(value, schema), request) }),
  };
}

/** A menu in a message: picks one of many. */
interface ChoiceKind {
  readonly id: string;
  menu(placeholder: string, options: readonly PlainTextOption[], confirm?: ConfirmationDialog): StaticSelect;
  /** For more than 100 choices: Slack asks for them while the user types. */
  typeAhead(placeholder: string, confirm?: ConfirmationDialog): ExternalSelect;
  on(run: (value: string, request: SlackRequest) => Promise<void>): ActionHandler;
}

/** Defines a menu in a message: its id is written here and nowhere else. */
export function defineChoice(id: string): ChoiceKind {
  return {
    id,
    menu: (placeholder, options, confirm) => ({
      type: 'static_select',
      action_id: id,
      placeholder: plain(placeholder),
      options: [...options],
      confirm,
    }),
    typeAhead: (placeholder, confirm) => ({
      type: 'external_select',
      action_id: id,
      placeholder: plain(placeholder),
      min_query_length: 0,
      confirm,
    }),
    on: (run) => ({ id, run }),
  };
}

/** The buttons for the previous and the next page of a long message, where there is one. */
export function pageButtons<Value>(
  kinds: { readonly back: ButtonKind<Value>; readonly further: ButtonKind<Value> },
  page: number,
  pages: number,
  valueAt: (page: number) => Value,
): Button[] {
  return [
    ...(page > 0 ? [kinds.back.element('Back', valueAt(page - 1))] : []),
    ...(page < pages - 1 ? [kinds.further.element('Next', valueAt(page + 1))] : []),
  ];
}
