import { z } from 'zod';
import {
  confirmDialog,
  conversationFilter,
  optionGroups,
  plainOption,
  plainOptions,
  plainText,
  style,
  textOption,
  withOfferedInitials,
  withOptionsOrGroups,
} from './composition.ts';
import { LIMITS } from './limits.ts';
import { type Fields, filled, object, string, typed, whole } from './object.ts';

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
  typed('workflow_button', { text: buttonText, workflow: z.looseObject({}) }, buttonFields),
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

const richTextInput = textField('rich_text_input', {
  initial_value: z.unknown(),
  min_lines: z.number(),
  max_lines: z.number(),
});

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

const fileInput = typed(
  'file_input',
  {},
  { action_id, filetypes: z.array(string()), max_files: whole(1, LIMITS.files) },
);

export const image = typed(
  'image',
  { alt_text: filled(LIMITS.imageAlt) },
  { image_url: string(LIMITS.imageUrl), slack_file: z.unknown() },
);

const feedback = object({ text: buttonText, value }, { accessibility_label: z.unknown() });

export const contextAction = z.discriminatedUnion('type', [
  typed('feedback_buttons', { positive_button: feedback, negative_button: feedback }, { action_id }),
  typed(
    'icon_button',
    { icon: filled(), text: buttonText },
    { ...confirmed, accessibility_label: z.unknown(), value, visible_to_user_ids: ids },
  ),
]);
export const actionsElement = z.discriminatedUnion('type', [...buttons, ...pickers, richTextInput]);
export const accessory = z.discriminatedUnion('type', [...buttons, ...pickers, image]);
export const inputElement = z.discriminatedUnion('type', [
  ...pickers,
  richTextInput,
  textInput,
  textField('email_text_input', { initial_value: string() }),
  textField('url_text_input', { initial_value: string() }),
  numberInput,
  fileInput,
]);
