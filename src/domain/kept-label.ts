/** A modal's metadata holds 3,000 characters, escapes included. */
const MOST_WRITTEN = 2500;
const MOST_SHORT = 400;

/**
 * What of a server's label is frozen with what somebody confirms in a modal: all of it, unless it is longer than Slack
 * lets us keep. The server has the same label still when the same is kept of it.
 */
export function keepLabel(label: string): string {
  if (JSON.stringify(label).length <= MOST_WRITTEN) return label;
  return `${label.slice(0, MOST_SHORT).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
