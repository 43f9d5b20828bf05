import { z } from 'zod';
import { isJson, objectIn, objectsIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { because } from './fault.ts';
import { LIMITS } from './limits.ts';

export type Fields = Readonly<Record<string, z.ZodType>>;

/** An object with these fields and no others. */
function object(required: Fields, optional: Fields = {}) {
  return z.strictObject({ ...required, ...z.object(optional).partial().shape });
}

/** An object of this `type`. */
export function typed(type: string, required: Fields, optional: Fields = {}) {
  return object({ type: z.literal(type), ...required }, optional);
}

/** An object that has at least one of these fields; said once all else is right. */
export function withOneOf(schema: z.ZodObject, ...names: readonly string[]) {
  return schema.refine((value) => names.some((name) => value[name] !== undefined), {
    ...because('missing', `one of ${names.join(', ')} is required`),
    when: ({ issues }) => issues.length === 0,
  });
}

/** A string of at most `max` characters. */
export const string = (max = Number.POSITIVE_INFINITY) => z.string().max(max);

/** A string of 1 to `max` characters. */
export const filled = (max?: number) => string(max).min(1);

/** A whole number from `min` to `max`. */
export const whole = (min = 0, max = Number.MAX_SAFE_INTEGER) => z.int().min(min).max(max);

const TEXT_FIELDS = new Set(['text', 'title', 'label', 'caption', 'alt_text', 'name', 'fallback']);
const MENTIONS = new Set(['user_id', 'usergroup_id', 'channel_id', 'team_id', 'range']);

/** Counts the characters of all texts within a block, an element or a cell. */
export function textLength(part: unknown): number {
  if (Array.isArray(part)) return part.reduce((sum: number, each) => sum + textLength(each), 0);
  if (!isJson(part)) return 0;
  return Object.entries(part).reduce((sum, [name, value]) => {
    if (typeof value !== 'string') return sum + textLength(value);
    if (TEXT_FIELDS.has(name)) return sum + value.length;
    // Mentions and links without text show something, too, so they are not empty.
    return sum + (MENTIONS.has(name) || (name === 'url' && part.text === undefined) ? 1 : 0);
  }, 0);
}

/** A plain_text object of 1 to `max` characters. */
export const plainText = (max: number = LIMITS.text) =>
  typed('plain_text', { text: filled(max) }, { emoji: z.boolean() });

/** A mrkdwn object of 1 to `max` characters. */
export const mrkdwn = (max: number = LIMITS.text) =>
  typed('mrkdwn', { text: filled(max) }, { verbatim: z.boolean() });

/** A plain_text or mrkdwn object. */
export const anyText = (max?: number) => z.discriminatedUnion('type', [plainText(max), mrkdwn(max)]);

const style = z.enum(['primary', 'danger']);

const confirmDialog = object(
  { text: anyText(LIMITS.confirmText) },
  {
    title: plainText(LIMITS.confirmTitle),
    confirm: plainText(LIMITS.confirmButton),
    deny: plainText(LIMITS.confirmButton),
    style,
  },
);

const option = (text: z.ZodType) =>
  object(
    { text, value: filled(LIMITS.optionValue) },
    { description: anyText(LIMITS.optionDescription), url: string(LIMITS.url) },
  );

const plainOption = option(plainText(LIMITS.optionText));
const textOption = option(anyText(LIMITS.optionText));
const plainOptions = z.array(plainOption).min(1).max(LIMITS.options);

const optionGroups = z
  .array(object({ label: plainText(LIMITS.optionText), options: plainOptions }))
  .min(1)
  .max(LIMITS.optionGroups);

/** A menu of options or of groups of options: exactly one of the two. */
function withOptionsOrGroups(menu: z.ZodObject) {
  return withOfferedInitials(menu)
    .refine(
      ({ options, option_groups }) => options !== undefined || option_groups !== undefined,
      because('missing', 'options or option_groups are required', 'options'),
    )
    .refine(
      ({ options, option_groups }) => options === undefined || option_groups === undefined,
      because('not_allowed_here', 'options and option_groups exclude each other', 'option_groups'),
    );
}

/** A menu whose initial options must be among its options, exactly. */
function withOfferedInitials(menu: z.ZodObject) {
  return menu.refine(
    (value) => {
      const groups = objectsIn(value, 'option_groups').flatMap((group) => objectsIn(group, 'options'));
      const offered = new Set([...objectsIn(value, 'options'), ...groups].map(identifyOption));
      const initial = objectIn(value, 'initial_option');
      return [...objectsIn(value, 'initial_options'), ...(initial ? [initial] : [])]
        .map(identifyOption)
        .every((option) => offered.has(option));
    },
    because('not_an_option', 'the initial option is not one of the options, exactly'),
  );
}

/** Options that differ in `emoji` or `verbatim` only are the same option. */
function identifyOption({ text, value }: Json): string {
  return JSON.stringify(isJson(text) ? [text.type, text.text, value] : [text, value]);
}

/** Which conversations a menu offers. */
const conversationFilter = withOneOf(
  object(
    {},
    {
      include: z.array(z.enum(['im', 'mpim', 'private', 'public'])).min(1),
      exclude_external_shared_channels: z.boolean(),
      exclude_bot_users: z.boolean(),
    },
  ),
  'include',
  'exclude_external_shared_channels',
  'exclude_bot_users',
);

const action_id = filled(LIMITS.id);
const focus_on_load = z.boolean();
const placeholder = plainText(LIMITS.placeholder);
const confirmed = { action_id, confirm: confirmDialog };
const buttonFields = { ...confirmed, style, accessibility_label: string(LIMITS.accessibilityLabel) };
const buttonText = plainText(LIMITS.buttonText);
const value = string(LIMITS.buttonValue);
const ids = z.array(filled());
const someOptions = z.array(plainOption).min(1);

const menu = (type: string, fields: Fields) =>
  typed(type, {}, { ...confirmed, focus_on_load, placeholder, ...fields });
const multiMenu = (type: string, fields: Fields) => menu(type, { max_selected_items: whole(1), ...fields });
const choices = (type: string, fields: Fields) =>
  withOfferedInitials(
    typed(
      type,
      { options: z.array(textOption).min(1).max(LIMITS.choiceOptions) },
      { ...confirmed, focus_on_load, ...fields },
    ),
  );
const textField = (type: string, fields: Fields) =>
  typed(type, {}, { action_id, focus_on_load, placeholder, dispatch_action_config: z.unknown(), ...fields });

export const button = typed(
  'button',
  { text: buttonText },
  { ...buttonFields, value, url: string(LIMITS.url) },
);

const buttons = [
  button,
  typed('overflow', { options: someOptions.max(LIMITS.overflowOptions) }, confirmed),
] as const;

const staticOptions = { options: plainOptions, option_groups: optionGroups };
const externalOptions = { min_query_length: whole() };
const conversations = { default_to_current_conversation: z.boolean(), filter: conversationFilter };
const response_url_enabled = z.boolean();

const pickers = [
  withOptionsOrGroups(menu('static_select', { ...staticOptions, initial_option: plainOption })),
  withOptionsOrGroups(multiMenu('multi_static_select', { ...staticOptions, initial_options: someOptions })),
  menu('external_select', { ...externalOptions, initial_option: plainOption }),
  multiMenu('multi_external_select', { ...externalOptions, initial_options: someOptions }),
  menu('users_select', { initial_user: filled() }),
  multiMenu('multi_users_select', { initial_users: ids }),
  menu('conversations_select', { ...conversations, initial_conversation: filled(), response_url_enabled }),
  multiMenu('multi_conversations_select', { ...conversations, initial_conversations: ids }),
  menu('channels_select', { initial_channel: filled(), response_url_enabled }),
  multiMenu('multi_channels_select', { initial_channels: ids }),
  choices('checkboxes', { initial_options: z.array(textOption).min(1) }),
  choices('radio_buttons', { initial_option: textOption }),
  menu('datepicker', { initial_date: z.string().length(10) }),
  menu('timepicker', { initial_time: z.string().length(5), timezone: string() }),
  typed('datetimepicker', {}, { ...confirmed, focus_on_load, initial_date_time: whole() }),
] as const;

const textInput = textField('plain_text_input', {
  initial_value: string(LIMITS.inputText),
  multiline: z.boolean(),
  min_length: whole(0, LIMITS.inputText),
  max_length: whole(1, LIMITS.inputText),
});

const numberInput = textField('number_input', {
  initial_value: string(),
  min_value: string(),
  max_value: string(),
}).extend({ is_decimal_allowed: z.boolean() });

export const image = typed(
  'image',
  { alt_text: filled(LIMITS.imageAlt) },
  { image_url: string(LIMITS.imageUrl), slack_file: z.unknown() },
);

export const actionsElement = z.discriminatedUnion('type', [...buttons, ...pickers]);
export const accessory = z.discriminatedUnion('type', [...buttons, ...pickers, image]);
export const inputElement = z.discriminatedUnion('type', [...pickers, textInput, numberInput]);
