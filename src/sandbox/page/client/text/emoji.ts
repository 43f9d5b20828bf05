/** The emojis that the app uses, by their names in Slack. Other names stay as they are typed. */
const EMOJIS = {
  hourglass_flowing_sand: '⏳',
  key: '🔑',
  large_green_circle: '🟢',
  large_yellow_circle: '🟡',
  lock: '🔒',
  raised_hand: '✋',
  red_circle: '🔴',
  warning: '⚠',
  white_check_mark: '✅',
  white_circle: '⚪',
  white_small_square: '▫',
  x: '❌',
} as const;

export type DrawnEmoji = (typeof EMOJIS)[keyof typeof EMOJIS];

/** With a group, so that splitting by it keeps them, and without what asks for their colored form. */
export const DRAWN_PATTERN = new RegExp(`(${Object.values(EMOJIS).join('|')})\\ufe0f?`, 'u');

/** The sign of an emoji's name; undefined when the table lacks it. */
export function findEmoji(name: string): string | undefined {
  return Object.entries(EMOJIS).find(([known]) => known === name)?.[1];
}

/** What a screen reader says of it. */
export function describeEmoji(emoji: DrawnEmoji): string {
  const [name = ''] = Object.entries(EMOJIS).find(([, sign]) => sign === emoji) ?? [];
  return name.replaceAll('_', ' ');
}

/** Plain text objects show emoji codes as signs, unless `emoji` is false. */
export function withEmoji(text: string): string {
  return text.replace(/:([a-z0-9_+'-]+):/g, (whole, name: string) => findEmoji(name) ?? whole);
}
