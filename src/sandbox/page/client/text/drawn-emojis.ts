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
} as const;

export type DrawnEmoji = keyof typeof DRAWN_EMOJIS;

/** With a group, so that splitting by it keeps them, and without what asks for their colored form. */
export const DRAWN_PATTERN = new RegExp(`(${Object.keys(DRAWN_EMOJIS).join('|')})\\ufe0f?`, 'u');

/** Whether an emoji is drawn by the page itself. */
export function isDrawn(emoji: string): boolean {
  return DRAWN_PATTERN.test(emoji);
}
