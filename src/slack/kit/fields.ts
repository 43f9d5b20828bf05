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
import { Refusal } from '../../core/errors.ts';
import type { Server } from '../../core/server.ts';
import { LIMITS, option, plain } from './blocks.ts';
import { plainLabel, plainState, readJson } from './text.ts';

interface FieldOptions {
  readonly label: string;
  /** A gray line below the field. */
  readonly hint?: string;
  readonly placeholder?: string;
  /** The first value: a text, the value of a choice, or a Slack ID. */
  readonly initial?: string | undefined;
}

interface TextOptions extends FieldOptions {
  readonly maxLength?: number;
  readonly multiline?: boolean;
}

/** The options of a menu; one of more than 100 choices is loaded while the user types. */
export interface SelectOptions extends FieldOptions {
  readonly placeholder: string;
  readonly options: readonly PlainTextOption[];
  /** Loads the choices while the user types, however few there are; `options` then need only the initial one. */
  readonly typeAhead?: boolean;
}

interface ChannelOptions extends FieldOptions {
  /** Leaves out channels that are shared with other organizations. */
  readonly excludesShared?: boolean;
}

/** Lets only fields that are optional in the schema be left empty. */
type Emptiness<Fields, Name extends keyof Fields> =
  Record<never, never> extends Pick<Fields, Name>
    ? { readonly optional?: boolean }
    : { readonly optional?: never };

type MakeField<Fields, Options> = <Name extends keyof Fields & string>(
  name: Name,
  options: Options & Emptiness<Fields, Name>,
) => InputBlock;

/** Makes the fields of a modal, by their names in its schema. Empty fields are absent from a submission. */
export interface FieldKinds<Fields> {
  readonly textField: MakeField<Fields, TextOptions>;
  readonly selectField: MakeField<Fields, SelectOptions>;
  /** A choice among all users that Slack lists, bots and guests too; submitted as a user ID. */
  readonly userField: MakeField<Fields, FieldOptions>;
  /** A choice among the channels that the user can see, private ones too; submitted as a channel ID. */
  readonly channelField: MakeField<Fields, ChannelOptions>;
}

/** Returns the makers of one modal's fields. The IDs of its blocks and actions are made here and nowhere else. */
export function fieldsOf<Fields>(modalId: string): FieldKinds<Fields> {
  const field =
    <Options extends FieldOptions>(elementOf: (options: Options) => Element) =>
    (name: string, options: Options & { readonly optional?: boolean }): InputBlock => ({
      type: 'input',
      block_id: name,
      label: plain(options.label),
      hint: options.hint ? plain(options.hint) : undefined,
      optional: options.optional || undefined,
      element: {
        ...elementOf(options),
        action_id: `${modalId}.${name}`,
        placeholder: options.placeholder ? plain(options.placeholder) : undefined,
      },
    });
  return {
    textField: field(textElement),
    selectField: field(selectElement),
    userField: field(({ initial }): UsersSelect => ({ type: 'users_select', initial_user: initial })),
    channelField: field(channelElement),
  };
}

type Element = PlainTextInput | StaticSelect | ExternalSelect | UsersSelect | ConversationsSelect;

function textElement({ initial, maxLength, multiline }: TextOptions): PlainTextInput {
  return {
    type: 'plain_text_input',
    initial_value: initial || undefined,
    max_length: maxLength,
    multiline: multiline || undefined,
  };
}

/** A menu that Slack fills itself, or one whose choices are loaded while the user types. */
function selectElement({ options, initial, typeAhead }: SelectOptions): StaticSelect | ExternalSelect {
  const start = { initial_option: options.find(({ value }) => value === initial) };
  return typeAhead || options.length > LIMITS.options
    ? { type: 'external_select', min_query_length: 0, ...start }
    : { type: 'static_select', options: [...options], ...start };
}

function channelElement({ initial, excludesShared }: ChannelOptions): ConversationsSelect {
  return {
    type: 'conversations_select',
    filter: {
      include: ['public', 'private'],
      exclude_external_shared_channels: excludesShared || undefined,
    },
    initial_conversation: initial,
  };
}

/** The shape of what was entered, as Slack sends it: `state.values` of a view, by block and by action. */
export const enteredState = z.record(z.string(), z.record(z.string(), z.unknown()));

/** The shape of one field's state: each kind of field has its own place for its value, `null` if empty. */
const fieldState = z.object({
  value: z.string().nullish(),
  selected_option: z.object({ value: z.string() }).nullish(),
  selected_user: z.string().nullish(),
  selected_conversation: z.string().nullish(),
});

/** Reads what was entered, by field; leaves out empty fields and fields with only spaces. */
export function readEntered(entered: z.output<typeof enteredState>): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, actions] of Object.entries(entered)) {
    const state = fieldState.safeParse(Object.values(actions)[0]).data;
    const value =
      state?.selected_option?.value ?? state?.selected_user ?? state?.selected_conversation ?? state?.value;
    if (typeof value === 'string' && value.trim() !== '') values[name] = value;
  }
  return values;
}

/** Makes the choice of a server in a menu, with what tells servers of the same label apart. Its value is the ID. */
export function serverOption(server: Server): PlainTextOption {
  // A held password's server has no state.
  const state = server.state === '' ? undefined : plainState(server);
  const rest = [state, server.ipv4, `ID ${server.id}`].filter(Boolean).join(' · ');
  return option(plainLabel(server.label), String(server.id), rest);
}

/*
 * The shapes of Slack's IDs, no narrower than it takes to tell them from a channel's name, which Slack accepts as a user's ID and
 * posts to for everyone to read, and from markup: an ID is written into messages as it is.
 */
export const userId = z.string().regex(/^[UW]\w{0,63}$/);
export const channelId = z.string().regex(/^[CDG]\w{0,63}$/);

/**
 * Reads the JSON that the app wrote into a button or a modal.
 * @throws Refusal `unreadable_press` if another version of the app wrote it, or it was forged
 */
export function parseJson<Value>(text: string, schema: z.ZodType<Value>): Value {
  return parseValue(readJson(text), schema);
}

/** Checks a parsed value from a button or a modal against its schema. @throws Refusal `unreadable_press` */
export function parseValue<Value>(value: unknown, schema: z.ZodType<Value>): Value {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new Refusal('unreadable_press', {});
  return parsed.data;
}
