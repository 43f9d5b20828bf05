import type {
  ConversationsSelect,
  ExternalSelect,
  InputBlock,
  PlainTextInput,
  PlainTextOption,
  StaticSelect,
  UsersSelect,
} from '@slack/types';
import { z } from 'zod';
import { plain } from './blocks.ts';
import { LIMITS } from './limits.ts';

/** How any field looks. */
export interface FieldLook {
  readonly label: string;
  /** A grey line below it. */
  readonly hint?: string;
  readonly placeholder?: string;
  /** What stands in it at first: the text, a choice's value, or an id of Slack. */
  readonly initial?: string;
}

export interface TextLook extends FieldLook {
  readonly maxLength?: number;
  readonly multiline?: boolean;
}

export interface SelectLook extends FieldLook {
  readonly placeholder: string;
  readonly options: readonly PlainTextOption[];
  /** Has Slack ask for the choices while the person types, however few there are; `options` hold the initial one. */
  readonly typeAhead?: boolean;
}

/** Only what the schema allows to be absent may be left empty. */
export type Emptiness<Fields, Name extends keyof Fields> =
  Record<never, never> extends Pick<Fields, Name>
    ? { readonly optional?: boolean }
    : { readonly optional?: never };

/** The fields of a modal by their names in its schema. What is left empty is absent in what is read. */
export interface FieldKinds<Fields> {
  textField<Name extends keyof Fields & string>(
    name: Name,
    look: TextLook & Emptiness<Fields, Name>,
  ): InputBlock;
  selectField<Name extends keyof Fields & string>(
    name: Name,
    look: SelectLook & Emptiness<Fields, Name>,
  ): InputBlock;
  /** Anybody that Slack lists, bots and guests too; read as a user id. */
  userField<Name extends keyof Fields & string>(
    name: Name,
    look: FieldLook & Emptiness<Fields, Name>,
  ): InputBlock;
  /** Channels that the person can see, private ones too; read as a channel id. */
  channelField<Name extends keyof Fields & string>(
    name: Name,
    look: FieldLook & Emptiness<Fields, Name>,
  ): InputBlock;
}

/** Draws the fields of one modal: names of blocks and actions are made here and nowhere else. */
export function fieldsOf<Fields>(modalId: string): FieldKinds<Fields> {
  const named = (name: string, look: FieldLook) => ({
    action_id: `${modalId}.${name}`,
    ...(look.placeholder ? { placeholder: plain(look.placeholder) } : {}),
  });
  return {
    textField: (name, look) => draw(name, look, { ...textElement(look), ...named(name, look) }),
    selectField: (name, look) => draw(name, look, { ...selectElement(look), ...named(name, look) }),
    userField: (name, look) => draw(name, look, { ...personElement(look), ...named(name, look) }),
    channelField: (name, look) => draw(name, look, { ...channelElement(look), ...named(name, look) }),
  };
}

type Element = InputBlock['element'];

function draw(name: string, look: FieldLook & { optional?: boolean }, element: Element): InputBlock {
  return {
    type: 'input',
    block_id: name,
    label: plain(look.label),
    ...(look.hint ? { hint: plain(look.hint) } : {}),
    ...(look.optional ? { optional: true } : {}),
    element,
  };
}

function textElement({ initial, maxLength, multiline }: TextLook): PlainTextInput {
  return {
    type: 'plain_text_input',
    ...(initial ? { initial_value: initial } : {}),
    ...(maxLength ? { max_length: maxLength } : {}),
    ...(multiline ? { multiline } : {}),
  };
}

/** What a menu can't hold is asked for while the person types. */
function selectElement({ options, initial, typeAhead }: SelectLook): StaticSelect | ExternalSelect {
  const chosen = options.find(({ value }) => value === initial);
  const start = chosen ? { initial_option: chosen } : {};
  return typeAhead || options.length > LIMITS.options
    ? { type: 'external_select', min_query_length: 0, ...start }
    : { type: 'static_select', options: [...options], ...start };
}

function personElement({ initial }: FieldLook): UsersSelect {
  return { type: 'users_select', ...(initial ? { initial_user: initial } : {}) };
}

function channelElement({ initial }: FieldLook): ConversationsSelect {
  return {
    type: 'conversations_select',
    filter: { include: ['public', 'private'], exclude_bot_users: true },
    ...(initial ? { initial_conversation: initial } : {}),
  };
}

/** What was entered, as Slack sends it: `state.values` of a view, by block and by action. */
export const enteredState = z.record(z.string(), z.record(z.string(), z.unknown()));

/** Each kind of field has its own place for its value; `null` is an empty one. */
const fieldState = z.object({
  value: z.string().nullish(),
  selected_option: z.object({ value: z.string() }).nullish(),
  selected_user: z.string().nullish(),
  selected_conversation: z.string().nullish(),
  selected_channel: z.string().nullish(),
});

/** Reads what was entered, by field. Blanks alone are nothing, and nothing is left out. */
export function readEntered(entered: z.output<typeof enteredState>): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, actions] of Object.entries(entered)) {
    const state = fieldState.safeParse(Object.values(actions)[0]).data;
    const value =
      state?.selected_option?.value ??
      state?.selected_user ??
      state?.selected_conversation ??
      state?.selected_channel ??
      state?.value;
    if (typeof value === 'string' && value.trim() !== '') values[name] = value;
  }
  return values;
}
