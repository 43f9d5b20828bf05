/** A small table: what an app for servers is likely to say. Unknown names stay as they are typed. */
const EMOJI: Readonly<Record<string, string>> = {
  '+1': '👍',
  '-1': '👎',
  thumbsup: '👍',
  thumbsdown: '👎',
  alarm_clock: '⏰',
  arrow_down: '⬇️',
  arrow_left: '⬅️',
  arrow_right: '➡️',
  arrow_up: '⬆️',
  arrows_counterclockwise: '🔄',
  bell: '🔔',
  bulb: '💡',
  calendar: '📆',
  chart_with_upwards_trend: '📈',
  clap: '👏',
  clipboard: '📋',
  computer: '💻',
  credit_card: '💳',
  desktop_computer: '🖥️',
  eyes: '👀',
  exclamation: '❗',
  fire: '🔥',
  gear: '⚙️',
  ghost: '👻',
  grey_question: '❔',
  hammer_and_wrench: '🛠️',
  heart: '❤️',
  heavy_check_mark: '✔️',
  hourglass: '⌛',
  hourglass_flowing_sand: '⏳',
  information_source: 'ℹ️',
  key: '🔑',
  large_blue_circle: '🔵',
  large_green_circle: '🟢',
  large_orange_circle: '🟠',
  large_red_circle: '🔴',
  large_yellow_circle: '🟡',
  link: '🔗',
  lock: '🔒',
  mag: '🔍',
  memo: '📝',
  moneybag: '💰',
  no_entry: '⛔',
  no_entry_sign: '🚫',
  octagonal_sign: '🛑',
  package: '📦',
  page_facing_up: '📄',
  pause_button: '⏸️',
  point_right: '👉',
  question: '❓',
  raised_hands: '🙌',
  red_circle: '🔴',
  robot_face: '🤖',
  rocket: '🚀',
  rotating_light: '🚨',
  see_no_evil: '🙈',
  shield: '🛡️',
  slightly_smiling_face: '🙂',
  smile: '😄',
  sparkles: '✨',
  tada: '🎉',
  thinking_face: '🤔',
  unlock: '🔓',
  warning: '⚠️',
  wastebasket: '🗑️',
  wave: '👋',
  white_check_mark: '✅',
  white_circle: '⚪',
  wrench: '🔧',
  x: '❌',
  zap: '⚡',
  zzz: '💤',
};

/** The sign of an emoji's name; undefined when the table lacks it. */
export function findEmoji(name: string): string | undefined {
  return Object.hasOwn(EMOJI, name) ? EMOJI[name] : undefined;
}

/** Plain text objects show emoji codes as signs, unless `emoji` is false. */
export function withEmoji(text: string): string {
  return text.replace(/:([a-z0-9_+'-]+):/g, (whole, name: string) => findEmoji(name) ?? whole);
}

/** The emojis that the app uses, and their accessible names. */
export const DRAWN_EMOJIS = {
  '🟢': 'green circle',
  '🟡': 'yellow circle',
  '🔴': 'red circle',
  '⚪': 'white circle',
  '🔵': 'blue circle',
  '🟠': 'orange circle',
  '⚠': 'warning',
  '🔒': 'lock',
  '🔑': 'key',
  '✋': 'raised hand',
  '✅': 'check mark',
  '⏳': 'hourglass',
  '❌': 'cross mark',
  '▫': 'white small square',
} as const;

export type DrawnEmoji = keyof typeof DRAWN_EMOJIS;

/** With a group, so that splitting by it keeps them, and without what asks for their colored form. */
export const DRAWN_PATTERN = new RegExp(`(${Object.keys(DRAWN_EMOJIS).join('|')})\\ufe0f?`, 'u');

/** Whether an emoji is drawn by the page itself. */
export function isDrawn(emoji: string): boolean {
  return DRAWN_PATTERN.test(emoji);
}
