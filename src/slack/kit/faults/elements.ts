import { LIMITS } from '../limits.ts';
import { all, anything, type Check, choice, flag, list, number, shape, string, whole } from './check.ts';
import {
  confirmDialog,
  conversationFilter,
  initialIsOffered,
  offersOptions,
  optionGroup,
  plainOption,
  plainText,
  textOption,
} from './composition.ts';

const acting = { type: string({}), action_id: string({ min: 1, max: LIMITS.id }) };
const confirmed = { ...acting, confirm: confirmDialog };
const focused = { ...confirmed, focus_on_load: flag, placeholder: plainText(LIMITS.placeholder) };
const severalOf = { max_selected_items: whole({ min: 1 }) };
const typed = {
  ...acting,
  focus_on_load: flag,
  placeholder: plainText(LIMITS.placeholder),
  dispatch_action_config: anything,
};
const optionList = list(plainOption, { min: 1, max: LIMITS.options });
const groupList = list(optionGroup, { min: 1, max: LIMITS.optionGroups });
const ids = list(string({ min: 1 }), {});
const style = choice('primary', 'danger');

const button = shape(
  {
    ...confirmed,
    text: plainText(LIMITS.buttonText),
    value: string({ max: LIMITS.buttonValue }),
    url: string({ max: LIMITS.url }),
    style,
    accessibility_label: string({ max: LIMITS.accessibilityLabel }),
  },
  'text',
);

const choices = {
  ...confirmed,
  focus_on_load: flag,
  options: list(textOption, { min: 1, max: LIMITS.choiceOptions }),
};

const PICKERS: Readonly<Record<string, Check>> = {
  static_select: all(
    shape({ ...focused, options: optionList, option_groups: groupList, initial_option: plainOption }),
    offersOptions,
  ),
  multi_static_select: all(
    shape({
      ...focused,
      ...severalOf,
      options: optionList,
      option_groups: groupList,
      initial_options: list(plainOption, { min: 1 }),
    }),
    offersOptions,
  ),
  external_select: shape({ ...focused, initial_option: plainOption, min_query_length: whole({}) }),
  multi_external_select: shape({
    ...focused,
    ...severalOf,
    initial_options: list(plainOption, { min: 1 }),
    min_query_length: whole({}),
  }),
  users_select: shape({ ...focused, initial_user: string({ min: 1 }) }),
  multi_users_select: shape({ ...focused, ...severalOf, initial_users: ids }),
  conversations_select: shape({
    ...focused,
    initial_conversation: string({ min: 1 }),
    default_to_current_conversation: flag,
    response_url_enabled: flag,
    filter: conversationFilter,
  }),
  multi_conversations_select: shape({
    ...focused,
    ...severalOf,
    initial_conversations: ids,
    default_to_current_conversation: flag,
    filter: conversationFilter,
  }),
  channels_select: shape({ ...focused, initial_channel: string({ min: 1 }), response_url_enabled: flag }),
  multi_channels_select: shape({ ...focused, ...severalOf, initial_channels: ids }),
  checkboxes: all(
    shape({ ...choices, initial_options: list(textOption, { min: 1 }) }, 'options'),
    initialIsOffered,
  ),
  radio_buttons: all(shape({ ...choices, initial_option: textOption }, 'options'), initialIsOffered),
  datepicker: shape({ ...focused, initial_date: string({ min: 10, max: 10 }) }),
  timepicker: shape({ ...focused, initial_time: string({ min: 5, max: 5 }), timezone: string({}) }),
  datetimepicker: shape({ ...confirmed, focus_on_load: flag, initial_date_time: whole({}) }),
};

const BUTTONS: Readonly<Record<string, Check>> = {
  button,
  workflow_button: shape(
    {
      ...confirmed,
      text: plainText(LIMITS.buttonText),
      workflow: anything,
      style,
      accessibility_label: anything,
    },
    'text',
    'workflow',
  ),
  overflow: shape(
    { ...confirmed, options: list(plainOption, { min: 1, max: LIMITS.overflowOptions }) },
    'options',
  ),
};

const richTextInput = shape({ ...typed, initial_value: anything, min_lines: number, max_lines: number });

export const IMAGE: Check = shape(
  {
    type: choice('image'),
    alt_text: string({ min: 1, max: LIMITS.imageAlt }),
    image_url: string({ max: LIMITS.imageUrl }),
    slack_file: anything,
  },
  'alt_text',
);

export const ACTION_ELEMENTS = { ...BUTTONS, ...PICKERS, rich_text_input: richTextInput };
export const ACCESSORIES = { ...BUTTONS, ...PICKERS, image: IMAGE };

export const INPUT_ELEMENTS: Readonly<Record<string, Check>> = {
  ...PICKERS,
  rich_text_input: richTextInput,
  plain_text_input: shape({
    ...typed,
    initial_value: string({ max: LIMITS.inputText }),
    multiline: flag,
    min_length: whole({ max: LIMITS.inputText }),
    max_length: whole({ min: 1, max: LIMITS.inputText }),
  }),
  email_text_input: shape({ ...typed, initial_value: string({}) }),
  url_text_input: shape({ ...typed, initial_value: string({}) }),
  number_input: shape(
    {
      ...typed,
      is_decimal_allowed: flag,
      initial_value: string({}),
      min_value: string({}),
      max_value: string({}),
    },
    'is_decimal_allowed',
  ),
  file_input: shape({ ...acting, filetypes: list(string({}), {}), max_files: whole({ min: 1, max: 10 }) }),
};

const feedback = shape(
  {
    text: plainText(LIMITS.buttonText),
    value: string({ max: LIMITS.buttonValue }),
    accessibility_label: anything,
  },
  'text',
  'value',
);

export const CONTEXT_ACTIONS: Readonly<Record<string, Check>> = {
  feedback_buttons: shape(
    { ...acting, positive_button: feedback, negative_button: feedback },
    'positive_button',
    'negative_button',
  ),
  icon_button: shape(
    {
      ...confirmed,
      icon: string({ min: 1 }),
      text: plainText(LIMITS.buttonText),
      accessibility_label: anything,
      value: string({ max: LIMITS.buttonValue }),
      visible_to_user_ids: ids,
    },
    'icon',
    'text',
  ),
};

export { button as BUTTON };
