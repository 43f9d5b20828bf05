import { findKeyNameOf } from '../../core/roles.ts';
import { colorOf, type HasState, type StateColor } from '../../core/server.ts';

/** Escapes what Slack reads as control characters (Slack, "Formatting message text"). */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Turns Slack's three entities back into characters. */
export function decodeText(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Cuts a text to at most `most` UTF-16 code units, the ellipsis included, never inside a surrogate pair. */
export function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${beginningOf(text, most - 1)}…`;
}

function beginningOf(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');
}

/** Splits a text into pieces of at most `most` UTF-16 code units, never inside a surrogate pair. */
export function splitText(text: string, most: number): string[] {
  const pieces: string[] = [];
  for (let rest = text; rest !== ''; rest = rest.slice(pieces.at(-1)?.length))
    pieces.push(beginningOf(rest, most));
  return pieces;
}

/** Cuts the middle out of a name, since names differ at their ends; otherwise as `shorten`. */
function shortenMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = Math.max(0, most - 1);
  const head = Math.floor(kept * 0.6);
  const end = text.slice(text.length - (kept - head)).replace(/^[\uDC00-\uDFFF]/, '');
  return `${beginningOf(text, head)}…${end}`;
}

/** Makes one plain line of a label from outside, for plain text. Right-to-left text can't reverse the text around it. */
export function plainLabel(label: string, most = 75): string {
  const line = label.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, ' ').trim() || '(no label)';
  const short = shortenMiddle(line, most - 2);
  return RIGHT_TO_LEFT.test(short) ? `\u2068${short}\u2069` : short;
}

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** Writes a label, or what somebody typed, in mrkdwn, as code, so that nothing in it formats, links or pings. */
export function codeLabel(label: string, most = 80): string {
  return `\`${escapeText(plainLabel(label, most).replaceAll('`', '\u02cb'))}\``;
}

/** Writes a time (epoch milliseconds) in mrkdwn: Slack shows it in the reader's zone, or in UTC where it can't. */
export function slackDate(at: number): string {
  return `<!date^${Math.floor(at / 1000)}^{date_short_pretty} {time}|${utcDate(at)}>`;
}

/** Writes the day of a time (epoch milliseconds) in mrkdwn, in the reader's zone or in UTC, like `slackDate`. */
export function slackDay(at: number): string {
  return `<!date^${Math.floor(at / 1000)}^{date_short}|${utcDate(at).slice(0, 10)}>`;
}

/** Writes a time (epoch milliseconds) in UTC, to the minute, for cells and plain text. */
export function utcDate(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Writes a mention of a user in mrkdwn. In a message, it notifies the user. */
export function mention(userId: string): string {
  return `<@${userId}>`;
}

/** Writes a number with its noun: "1 server", "2,000 servers". */
export function count(amount: number, noun: string): string {
  return `${describeNumber(amount)} ${noun}${amount === 1 ? '' : 's'}`;
}

export function describeNumber(amount: number): string {
  // Formatting by language is slow, and most numbers are small.
  return amount < 1000 ? String(amount) : amount.toLocaleString('en');
}

/** Names an actor at the beginning of a sentence, in mrkdwn: mentions a user, or names the key of a workflow. */
export function nameActor(actorId: string): string {
  const key = findKeyNameOf(actorId);
  return key === undefined ? mention(actorId) : `Workflow key *${escapeText(key)}*`;
}

const DOTS: Readonly<Record<StateColor, string>> = { green: '🟢', yellow: '🟡', red: '🔴', gray: '⚪' };

/** Writes a server's state as plain text: a colored dot, and the hosting API's own word. */
export function plainState(server: HasState): string {
  return `${DOTS[colorOf(server)]} ${shorten(server.state.trim() || 'unknown', 20)}`;
}

export function stateWords(server: HasState): string {
  return escapeText(plainState(server));
}

export function capital(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}

/** Writes the cells of one line as CSV (RFC 4180), without the line end. No cell can run as a spreadsheet formula. */
export function csvLine(cells: readonly (string | number | undefined)[]): string {
  return cells.map((cell) => toCell(cell ?? '')).join(',');
}

/** Writes one cell. An apostrophe keeps text that begins like a formula, such as a label, from running as one. */
function toCell(cell: string | number): string {
  if (typeof cell === 'number') return String(cell);
  const text = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(cell) ? `'${cell}` : cell;
  return /[",;\s]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
