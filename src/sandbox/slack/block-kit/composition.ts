import { z } from 'zod';
import { isJson, objectIn, objectsIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { because } from './fault.ts';
import { LIMITS } from './limits.ts';
import { filled, object, string, typed, withOneOf } from './object.ts';

/** A plain_text object of 1 to `max` characters. */
export const plainText = (max: number = LIMITS.text) =>
  typed('plain_text', { text: filled(max) }, { emoji: z.boolean() });

/** A mrkdwn object of 1 to `max` characters. */
export const mrkdwn = (max: number = LIMITS.text) =>
  typed('mrkdwn', { text: filled(max) }, { verbatim: z.boolean() });

/** A plain_text or mrkdwn object. */
export const anyText = (max?: number) => z.discriminatedUnion('type', [plainText(max), mrkdwn(max)]);

export const style = z.enum(['primary', 'danger']);

export const confirmDialog = object(
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

export const plainOption = option(plainText(LIMITS.optionText));
export const textOption = option(anyText(LIMITS.optionText));
export const plainOptions = z.array(plainOption).min(1).max(LIMITS.options);

export const optionGroups = z
  .array(object({ label: plainText(LIMITS.optionText), options: plainOptions }))
  .min(1)
  .max(LIMITS.optionGroups);

/** A menu of options or of groups of options: exactly one of the two. */
export function withOptionsOrGroups(menu: z.ZodObject) {
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
export function withOfferedInitials(menu: z.ZodObject) {
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
export const conversationFilter = withOneOf(
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
