import { findKeyNameOf } from '../../core/roles.ts';
import { colorOf, type Server, type StateColor } from '../../core/server.ts';

/** Escapes what Slack reads as control characters (Slack, "Formatting message text"). */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Turns Slack's entities in typed text back into characters. */
export function decodeText(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Cuts to so many whole characters, with an ellipsis. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  let cut = text.slice(0, most - 1);
  if (/[\uD800-\uDBFF]$/.test(cut)) cut = cut.slice(0, -1);
  return `${cut}…`;
}

/** Splits into pieces of at most `most` characters, never inside a surrogate pair. */
export function splitText(text: string, most: number): string[] {
  const pieces: string[] = [];
  for (let rest = text; rest !== ''; rest = rest.slice(pieces.at(-1)?.length)) {
    const isCut = rest.length > most && /[\uD800-\uDBFF]/.test(rest.charAt(most - 1));
    pieces.push(rest.slice(0, isCut ? most - 1 : most));
  }
  return pieces;
}

/** The same for names that differ at their ends: it loses its middle. */
function shortenMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = Math.max(0, most - 1);
  const head = Math.floor(kept * 0.6);
  const beginning = text.slice(0, head).replace(/[\uD800-\uDBFF]$/, '');
  const end = text.slice(text.length - (kept - head)).replace(/^[\uDC00-\uDFFF]/, '');
  return `${beginning}…${end}`;
}

/** Makes one plain line of a label from outside; right-to-left text can't reverse the text around it. */
export function plainLabel(label: string, most = 75): string {
  const line = label.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, ' ').trim() || '(no label)';
  const short = shortenMiddle(line, most - 2);
  return RIGHT_TO_LEFT.test(short) ? `\u2068${short}\u2069` : short;
}

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** A label in mrkdwn: as code, so that nothing in it formats, links or pings. */
export function codeLabel(label: string, most = 80): string {
  return `\`${escapeText(plainLabel(label, most).replaceAll('`', '\u02cb'))}\``;
}

/** Typed text in mrkdwn. */
export function codeTyped(typed: string): string {
  return codeLabel(typed);
}

/** A time in the reader's own zone, in UTC where Slack can't. */
export function slackDate(at: number): string {
  return `<!date^${Math.floor(at / 1000)}^{date_short_pretty} {time}|${utcDate(at)}>`;
}

/** A day in the reader's own zone, in UTC where Slack can't. */
export function slackDay(at: number): string {
  return `<!date^${Math.floor(at / 1000)}^{date_short}|${utcDate(at).slice(0, 10)}>`;
}

/** A time in UTC, to the minute, for cells and plain text. */
export function utcDate(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Mentions a user by ID. */
export function mention(userId: string): string {
  return `<@${userId}>`;
}

/** "1 server", "2,000 servers". */
export function count(amount: number, noun: string): string {
  return `${describeNumber(amount)} ${noun}${amount === 1 ? '' : 's'}`;
}

/** "999", "2,000". */
export function describeNumber(amount: number): string {
  // Formatting by language is slow, and most numbers are small.
  return amount < 1000 ? String(amount) : amount.toLocaleString('en');
}

/** Who did something, at the beginning of a sentence: a user, or a workflow with its workflow key, which can't be mentioned. */
export function nameActor(actorId: string): string {
  const key = findKeyNameOf(actorId);
  return key === undefined ? mention(actorId) : `Workflow key *${escapeText(key)}*`;
}

const DOTS: Readonly<Record<StateColor, string>> = { green: '🟢', yellow: '🟡', red: '🔴', gray: '⚪' };

/** A state as plain text: a dot, for a glance, and the hosting API's own word. */
export function plainState(server: Pick<Server, 'state'>): string {
  return `${DOTS[colorOf(server)]} ${shorten(server.state.trim() || 'unknown', 20)}`;
}

/** The same in mrkdwn. */
export function stateWords(server: Pick<Server, 'state'>): string {
  return escapeText(plainState(server));
}
