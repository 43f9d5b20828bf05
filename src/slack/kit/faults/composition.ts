import { LIMITS } from '../limits.ts';
import { all, type Check, choice, flag, isFields, list, listIn, shape, string } from './check.ts';

/** A plain_text object of 1 to so many characters. */
export function plainText(max: number = LIMITS.text): Check {
  return shape({ type: choice('plain_text'), text: string({ min: 1, max }), emoji: flag }, 'type', 'text');
}

/** A mrkdwn object of 1 to so many characters. */
export function mrkdwn(max: number = LIMITS.text): Check {
  return shape({ type: choice('mrkdwn'), text: string({ min: 1, max }), verbatim: flag }, 'type', 'text');
}

/** A plain_text or mrkdwn object. */
export function anyText(max: number = LIMITS.text): Check {
  return (value, path, report) => {
    const isMrkdwn = isFields(value) && value.type === 'mrkdwn';
    (isMrkdwn ? mrkdwn(max) : plainText(max))(value, path, report);
  };
}

export const confirmDialog = shape(
  {
    title: plainText(LIMITS.confirmTitle),
    text: anyText(LIMITS.confirmText),
    confirm: plainText(LIMITS.confirmButton),
    deny: plainText(LIMITS.confirmButton),
    style: choice('primary', 'danger'),
  },
  'text',
);

function option(text: Check): Check {
  return shape(
    {
      text,
      value: string({ min: 1, max: LIMITS.optionValue }),
      description: anyText(LIMITS.optionDescription),
      url: string({ max: LIMITS.url }),
    },
    'text',
    'value',
  );
}

export const plainOption = option(plainText(LIMITS.optionText));
export const textOption = option(anyText(LIMITS.optionText));

export const optionGroup = shape(
  { label: plainText(LIMITS.optionText), options: list(plainOption, { min: 1, max: LIMITS.options }) },
  'label',
  'options',
);

/** The initial option(s) must be among the options, exactly. */
export const initialIsOffered: Check = (value, path, report) => {
  if (!isFields(value)) return;
  const offered = new Set(
    [
      ...listIn(value, 'options'),
      ...listIn(value, 'option_groups').flatMap((group) => listIn(group, 'options')),
    ].map(describeOption),
  );
  const chosen = [
    ...listIn(value, 'initial_options'),
    ...(value.initial_option ? [value.initial_option] : []),
  ];
  for (const initial of chosen) {
    if (offered.has(describeOption(initial))) continue;
    report(path, 'not_an_option', 'the initial option is not one of the options, exactly');
  }
};

/** `emoji` and `verbatim` don't make another option of it. */
function describeOption(option: unknown): string {
  if (!isFields(option) || !isFields(option.text)) return JSON.stringify(option);
  return JSON.stringify([option.text.type, option.text.text, option.value]);
}

/** Options or groups of options, one of the two. */
export const offersOptions: Check = all(initialIsOffered, (value, path, report) => {
  if (!isFields(value)) return;
  if (value.options === undefined && value.option_groups === undefined)
    report(`${path}/options`, 'missing', 'options or option_groups are required');
  if (value.options !== undefined && value.option_groups !== undefined)
    report(`${path}/option_groups`, 'not_allowed_here', 'options and option_groups exclude each other');
});

/** Which conversations a menu offers; one of its fields is required, no matter which. */
export const conversationFilter: Check = all(
  shape({
    include: list(choice('im', 'mpim', 'private', 'public'), { min: 1 }),
    exclude_external_shared_channels: flag,
    exclude_bot_users: flag,
  }),
  (value, path, report) => {
    if (isFields(value) && Object.keys(value).length === 0)
      report(path, 'missing', 'include, exclude_external_shared_channels or exclude_bot_users is required');
  },
);
