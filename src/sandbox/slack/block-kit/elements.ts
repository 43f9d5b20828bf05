import { z } from 'zod';
import { isJson, objectIn, objectsIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { because } from './fault.ts';
import { LIMITS } from './limits.ts';

export type Fields = Readonly<Record<string, z.ZodType>>;

function object(required: Fields, optional: Fields = {}) {
  return z.strictObject({ ...required, ...z.object(optional).partial().shape });
}

export function typed(type: string, required: Fields, optional: Fields = {}) {
  return object({ type: z.literal(type), ...required }, optional);
}

/** Said once all else is right. */
export const last = { when: ({ issues }: { readonly issues: readonly unknown[] }) => issues.length === 0 };

/** An object that has at least one of these fields. */
export function withOneOf(schema: z.ZodObject, ...names: readonly string[]) {
  return schema.refine((value) => names.some((name) => value[name] !== undefined), {
    ...because('missing', `one of ${names.join(', ')} is required`),
    ...last,
  });
}

export const string = (max = Number.POSITIVE_INFINITY) => z.string().max(max);

export const filled = (max?: number) => string(max).min(1);

export const whole = (min = 0, max = Number.MAX_SAFE_INTEGER) => z.int().min(min).max(max);

const TEXT_FIELDS = new Set(['text', 'title', 'label', 'caption', 'name']);

/** Counts the characters of all texts within a block, an element or a cell. */
export function textLength(part: unknown): number {
  if (Array.isArray(part)) return part.reduce((sum: number, each) => sum + textLength(each), 0);
  if (!isJson(part)) return 0;
  return Object.entries(part).reduce((sum, [name, value]) => {
    if (typeof value !== 'string') return sum + textLength(value);
    return sum + (TEXT_FIELDS.has(name) ? value.length : 0);
  }, 0);
}

export const plainText = (max: number = LIMITS.text) =>
  typed('plain_text', { text: filled(max) }, { emoji: z.boolean() });

export const mrkdwn = (max: number = LIMITS.text) =>
  typed('mrkdwn', { text: filled(max) }, { verbatim: z.boolean() });

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

const option = object(
  { text: plainText(LIMITS.optionText), value: filled(LIMITS.optionValue) },
  { description: anyText(LIMITS.optionDescription) },
);
const options = z.array(option).min(1).max(LIMITS.options);

const optionGroups = z
  .array(object({ label: plainText(LIMITS.optionText), options }))
  .min(1)
  .max(LIMITS.optionGroups);

/** A menu of options or of groups of options, exactly one of the two; the initial option must be among them, exactly. */
function withOptionsOrGroups(menu: z.ZodObject) {
  return menu
    .refine(
      (value) => {
        const groups = objectsIn(value, 'option_groups').flatMap((group) => objectsIn(group, 'options'));
        const offered = [...objectsIn(value, 'options'), ...groups].map(identifyOption);
        const initial = objectIn(value, 'initial_option');
        return !initial || offered.includes(identifyOption(initial));
      },
      because('not_an_option', 'the initial option is not one of the options, exactly'),
    )
    .refine(
      (value) => value.options !== undefined || value.option_groups !== undefined,
      because('missing', 'options or option_groups are required', 'options'),
    )
    .refine(
      (value) => value.options === undefined || value.option_groups === undefined,
      because('not_allowed_here', 'options and option_groups exclude each other', 'option_groups'),
    );
}

/** Options that differ in `emoji` or `verbatim` only are the same option. */
function identifyOption({ text, value }: Json): string {
  return JSON.stringify(isJson(text) ? [text.type, text.text, value] : [text, value]);
}

const conversationFilter = withOneOf(
  object(
    {},
    {
      include: z.array(z.enum(['im', 'mpim', 'private', 'public'])).min(1),
      exclude_external_shared_channels: z.boolean(),
    },
  ),
  'include',
  'exclude_external_shared_channels',
);

const action_id = filled(LIMITS.id);
const placeholder = plainText(LIMITS.placeholder);
const confirmed = { action_id, confirm: confirmDialog };

const button = typed(
  'button',
  { text: plainText(LIMITS.buttonText) },
  {
    ...confirmed,
    style,
    accessibility_label: string(LIMITS.accessibilityLabel),
    value: string(LIMITS.buttonValue),
    url: string(LIMITS.url),
  },
);

const menu = (type: string, fields: Fields) => typed(type, {}, { ...confirmed, placeholder, ...fields });

const menus = [
  withOptionsOrGroups(
    menu('static_select', { options, option_groups: optionGroups, initial_option: option }),
  ),
  menu('external_select', { min_query_length: whole(), initial_option: option }),
  menu('users_select', { initial_user: filled() }),
  menu('conversations_select', { filter: conversationFilter, initial_conversation: filled() }),
] as const;

const textInput = typed(
  'plain_text_input',
  {},
  {
    action_id,
    placeholder,
    initial_value: string(LIMITS.inputText),
    multiline: z.boolean(),
    max_length: whole(1, LIMITS.inputText),
  },
);

/** Slack has more elements, which the app doesn't send. */
export const interactive = z.discriminatedUnion('type', [button, ...menus]);
export const inputElement = z.discriminatedUnion('type', [...menus, textInput]);
