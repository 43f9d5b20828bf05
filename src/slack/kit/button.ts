import type { Button, ConfirmationDialog, ExternalSelect, PlainTextOption, StaticSelect } from '@slack/types';
import type { z } from 'zod';
import type { SlackRequest } from '../transport/request.ts';
import { plain } from './blocks.ts';
import { LIMITS } from './limits.ts';
import { shorten } from './text.ts';
import { parseWritten } from './written.ts';

/** A button with both its ends: what is written into it is read by the same schema when it comes back. */
export interface ButtonKind<Value> {
  readonly id: string;
  element(
    text: string,
    value: Value,
    look?: { style?: 'primary' | 'danger'; confirm?: ConfirmationDialog; label?: string },
  ): Button;
  on(run: (value: Value, request: SlackRequest) => Promise<void>): ActionHandler;
}

/** What happens when a button is pressed or a choice is made. */
export interface ActionHandler {
  readonly id: string;
  /** @throws Refusal `unreadable_press` when the value is not one that we wrote */
  run(value: string, request: SlackRequest): Promise<void>;
}

/** Defines a button: its id is written here and nowhere else. */
export function defineButton<Value>(id: string, schema: z.ZodType<Value>): ButtonKind<Value> {
  return {
    id,
    element: (text, value, look = {}) => ({
      type: 'button',
      action_id: id,
      text: plain(shorten(text, LIMITS.buttonText)),
      value: JSON.stringify(value),
      ...(look.style ? { style: look.style } : {}),
      ...(look.confirm ? { confirm: look.confirm } : {}),
      ...(look.label ? { accessibility_label: shorten(look.label, LIMITS.accessibilityLabel) } : {}),
    }),
    on: (run) => ({ id, run: async (value, request) => run(parseWritten(value, schema), request) }),
  };
}

/** A menu in a message: picks one of many. */
export interface ChoiceKind {
  readonly id: string;
  menu(placeholder: string, options: readonly PlainTextOption[], confirm?: ConfirmationDialog): StaticSelect;
  /** For more than 100 choices: Slack asks for them while the person types. */
  typeAhead(placeholder: string): ExternalSelect;
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
      ...(confirm ? { confirm } : {}),
    }),
    typeAhead: (placeholder) => ({
      type: 'external_select',
      action_id: id,
      placeholder: plain(placeholder),
      min_query_length: 0,
    }),
    on: (run) => ({ id, run }),
  };
}
