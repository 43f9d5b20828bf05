import { createHash } from 'node:crypto';
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
import { plainLabel, plainState } from './text.ts';

/** Options of every field. */
interface FieldOptions {
  readonly label: string;
  /** A gray line below it. */
  readonly hint?: string;
  readonly placeholder?: string;
  /** Its first value: the text, a choice's value, or an ID of Slack. */
  readonly initial?: string | undefined;
}

export interface TextOptions extends FieldOptions {
  readonly maxLength?: number;
  readonly multiline?: boolean;
}

export interface SelectOptions extends FieldOptions {
  readonly placeholder: string;
  readonly options: readonly PlainTextOption[];
  /** Has Slack ask for the choices while the user types, however few there are; `options` hold the initial one. */
  readonly typeAhead?: boolean;
}

export interface ChannelOptions extends FieldOptions {
  /** Leaves out channels that are shared with other organizations. */
  readonly excludesShared?: boolean;
}

/** Only fields that are optional in the schema may be left empty. */
type Emptiness<Fields, Name extends keyof Fields> =
  Record<never, never> extends Pick<Fields, Name>
    ? { readonly optional?: boolean }
    : { readonly optional?: never };

/** The fields of a modal by their names in its schema. Empty fields are absent in the result. */
export interface FieldKinds<Fields> {
  textField<Name extends keyof Fields & string>(
    name: Name,
    options: TextOptions & Emptiness<Fields, Name>,
  ): InputBlock;
  selectField<Name extends keyof Fields & string>(
    name: Name,
    options: SelectOptions & Emptiness<Fields, Name>,
  ): InputBlock;
  /** All users that Slack lists, bots and guests too; read as a user ID. */
  userField<Name extends keyof Fields & string>(
    name: Name,
    options: FieldOptions & Emptiness<Fields, Name>,
  ): InputBlock;
  /** Channels that the user can see, private ones too; read as a channel ID. */
  channelField<Name extends keyof Fields & string>(
    name: Name,
    options: ChannelOptions & Emptiness<Fields, Name>,
  ): InputBlock;
}

/** Builds the fields of one modal: the names of its blocks and actions are made here and nowhere else. */
export function fieldsOf<Fields>(modalId: string): FieldKinds<Fields> {
  const named = (name: string, options: FieldOptions) => ({
    action_id: `${modalId}.${name}`,
    placeholder: options.placeholder ? plain(options.placeholder) : undefined,
  });
  return {
    textField: (name, options) =>
      buildField(name, options, { ...textElement(options), ...named(name, options) }),
    selectField: (name, options) =>
      buildField(name, options, { ...selectElement(options), ...named(name, options) }),
    userField: (name, options) =>
      buildField(name, options, { ...userElement(options), ...named(name, options) }),
    channelField: (name, options) =>
      buildField(name, options, { ...channelElement(options), ...named(name, options) }),
  };
}

type Element = InputBlock['element'];

function buildField(
  name: string,
  options: FieldOptions & { optional?: boolean },
  element: Element,
): InputBlock {
  return {
    type: 'input',
    block_id: name,
    label: plain(options.label),
    hint: options.hint ? plain(options.hint) : undefined,
    optional: options.optional || undefined,
    element,
  };
}

function textElement({ initial, maxLength, multiline }: TextOptions): PlainTextInput {
  return {
    type: 'plain_text_input',
    initial_value: initial || undefined,
    max_length: maxLength,
    multiline: multiline || undefined,
  };
}

/** Choices that don't fit into a menu are loaded while the user types. */
function selectElement({ options, initial, typeAhead }: SelectOptions): StaticSelect | ExternalSelect {
  const start = { initial_option: options.find(({ value }) => value === initial) };
  return typeAhead || options.length > LIMITS.options
    ? { type: 'external_select', min_query_length: 0, ...start }
    : { type: 'static_select', options: [...options], ...start };
}

function userElement({ initial }: FieldOptions): UsersSelect {
  return { type: 'users_select', initial_user: initial };
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

/** Reads what was entered, by field. Empty fields, and fields with only spaces, are left out. */
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

/** Begins a key that is a hash. Values that begin with it are hashed as well, so that no value looks like a key. */
const MARK = '~';

/**
 * A value as a menu or a button carries it: itself if Slack takes it, otherwise a hash of it. Each value has one key of its
 * own, which stays the same from day to day.
 */
export function shortKey(value: string): string {
  if (value.length <= LIMITS.optionValue && !value.startsWith(MARK)) return value;
  return `${MARK}${createHash('sha256').update(value).digest('base64url')}`;
}

/** Finds the value that a key stands for; undefined if it is not on offer any more. */
export function findByKey(values: readonly string[], key: string): string | undefined {
  return values.find((value) => shortKey(value) === key);
}

/** Whether it is a hash, which means nothing to users. */
export function isHashedKey(key: string): boolean {
  return /^~[\w-]{43}$/.test(key);
}

/** A server as one line of a menu: enough to tell two of the same label apart. */
export function serverOption(server: Server): PlainTextOption {
  // A held password's server has no state.
  const state = server.state === '' ? undefined : plainState(server);
  const rest = [state, server.ipv4, `ID ${server.id}`].filter(Boolean).join(' · ');
  return option(plainLabel(server.label), String(server.id), rest);
}

/**
 * Reads back the JSON that we wrote into a button or a modal.
 * @throws Refusal `unreadable_press` when another version of the app wrote it, or it was forged
 */
export function parseJson<Value>(text: string, schema: z.ZodType<Value>): Value {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refusal('unreadable_press', {});
  }
  return parseValue(value, schema);
}

/** Reads a part of such a value. @throws Refusal `unreadable_press` */
export function parseValue<Value>(value: unknown, schema: z.ZodType<Value>): Value {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new Refusal('unreadable_press', {});
  return parsed.data;
}
