import { getScreen } from '../state.ts';

export type Inline =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'bold' | 'italic' | 'strike'; readonly children: readonly Inline[] }
  | { readonly type: 'code'; readonly children: readonly Inline[] }
  | { readonly type: 'link'; readonly url: string; readonly children: readonly Inline[] }
  | { readonly type: 'user' | 'channel' | 'group'; readonly id: string; readonly label: string }
  | { readonly type: 'broadcast'; readonly range: string }
  | { readonly type: 'date'; readonly seconds: number; readonly format: string; readonly fallback: string }
  | { readonly type: 'emoji'; readonly name: string };

const plainInline = (text: string): Inline => ({ type: 'text', text });

function decodeEntities(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Only these may be followed; anything else (`javascript:`) is shown as text. */
export function isFollowable(url: string): boolean {
  return /^(https?:\/\/|mailto:)/i.test(url);
}

export type Paragraph =
  | { readonly type: 'lines' | 'quote'; readonly lines: readonly (readonly Inline[])[] }
  | { readonly type: 'pre'; readonly text: string };

interface MrkdwnOptions {
  /** Bare addresses stay text. */
  readonly verbatim?: boolean;
}

/** Reads Slack's mrkdwn: fences and quotes first, then each line separately, as Slack's clients do. */
export function parseMrkdwn(text: string, options: MrkdwnOptions = {}): readonly Paragraph[] {
  return text.split(/```\n?([\s\S]*?)```\n?/g).flatMap((part, index): readonly Paragraph[] => {
    if (index % 2 === 1) return [{ type: 'pre', text: decodeCode(part.replace(/\n$/, '')) }];
    return part === '' ? [] : parseLines(part.replace(/\n$/, ''), options);
  });
}

const QUOTE = /^(?:&gt;|>) ?/;

function parseLines(text: string, options: MrkdwnOptions): readonly Paragraph[] {
  const paragraphs: { type: 'lines' | 'quote'; lines: (readonly Inline[])[] }[] = [];
  for (const line of text.split('\n')) {
    const type = QUOTE.test(line) ? 'quote' : 'lines';
    const last = paragraphs.at(-1);
    const inline = parseInline(type === 'quote' ? line.replace(QUOTE, '') : line, options);
    if (last?.type === type) last.lines.push(inline);
    else paragraphs.push({ type, lines: [inline] });
  }
  return paragraphs;
}

const STYLES: Readonly<Record<string, 'bold' | 'italic' | 'strike'>> = {
  '*': 'bold',
  _: 'italic',
  '~': 'strike',
};
type Span = readonly [RegExp, (content: string) => Inline];

/** What starts something other than text, tried at every place; the first group is its content. */
const SPANS: readonly Span[] = [
  [/`([^`\n]+)`/y, (content) => ({ type: 'code', children: parseCode(content) })],
  [/<([^<>\n]+)>/y, parseReference],
  [/:([a-z0-9_+'-]+):/y, (name) => ({ type: 'emoji', name })],
];
const BARE_LINK = /(https?:\/\/[^\s<>|]*[^\s<>|.,;:!?)'"])/y;

export function parseInline(line: string, options: MrkdwnOptions = {}): readonly Inline[] {
  const spans = options.verbatim ? SPANS : [...SPANS, [BARE_LINK, parseReference] as const];
  const found: Inline[] = [];
  let plainFrom = 0;
  let at = 0;
  const take = (inline: Inline, end: number) => {
    if (at > plainFrom) found.push(plainInline(decodeEntities(line.slice(plainFrom, at))));
    found.push(inline);
    at = end;
    plainFrom = end;
  };
  while (at < line.length) {
    const style = STYLES[line[at] ?? ''];
    const end = style ? findStyleEnd(line, at) : -1;
    const span = style ? undefined : matchSpan(spans, line, at);
    if (style && end > 0)
      take({ type: style, children: parseInline(line.slice(at + 1, end), options) }, end + 1);
    else if (span) take(span.inline, span.end);
    else at += 1;
  }
  if (plainFrom < line.length) found.push(plainInline(decodeEntities(line.slice(plainFrom))));
  return found;
}

function matchSpan(spans: readonly Span[], line: string, at: number) {
  for (const [pattern, make] of spans) {
    pattern.lastIndex = at;
    const match = pattern.exec(line);
    if (match) return { inline: make(match[1] ?? ''), end: at + match[0].length };
  }
  return undefined;
}

/** A style begins and ends at the edge of a word; inside code and references its mark is only a letter. */
function findStyleEnd(line: string, start: number): number {
  const mark = line[start] ?? '';
  if (/[\p{L}\p{N}]/u.test(line[start - 1] ?? ' ') || /\s|^$/.test(line[start + 1] ?? '')) return -1;
  for (let at = start + 1; at < line.length; at += 1) {
    const closing = { '`': '`', '<': '>' }[line[at] ?? ''];
    const skipTo = closing ? line.indexOf(closing, at + 1) : -1;
    if (skipTo > 0) at = skipTo;
    else if (line[at] === mark && at > start + 1 && !/\s/.test(line[at - 1] ?? ' ') && isEdge(line[at + 1]))
      return at;
  }
  return -1;
}

const isEdge = (next: string | undefined) => next === undefined || !/[\p{L}\p{N}]/u.test(next);

/** References are read inside code, too; nothing else is. */
function parseCode(content: string): readonly Inline[] {
  return content
    .split(/<([^<>]+)>/g)
    .map((part, index) => (index % 2 ? parseReference(part) : plainInline(decodeEntities(part))))
    .filter((inline) => inline.type !== 'text' || inline.text !== '');
}

function decodeCode(text: string): string {
  return decodeEntities(
    text.replace(/<([^<>|]+)(?:\|([^<>]*))?>/g, (_whole, target: string, label?: string) => label ?? target),
  );
}

/** Reads the text between < and >: mentions, dates, links (Slack's "Formatting message text" page). */
function parseReference(inside: string): Inline {
  const bar = inside.indexOf('|');
  const target = bar < 0 ? inside : inside.slice(0, bar);
  const label = bar < 0 ? '' : decodeEntities(inside.slice(bar + 1));
  if (target.startsWith('@')) return { type: 'user', id: target.slice(1), label };
  if (target.startsWith('#')) return { type: 'channel', id: target.slice(1), label };
  if (target.startsWith('!subteam^')) return { type: 'group', id: target.slice(9), label };
  if (target.startsWith('!date^')) return parseDate(target, label);
  if (target.startsWith('!')) return { type: 'broadcast', range: target.slice(1) };
  const url = decodeEntities(target);
  const children = [plainInline(label || url)];
  return isFollowable(url) ? { type: 'link', url, children } : plainInline(label || url);
}

function parseDate(target: string, fallback: string): Inline {
  const [, seconds = '', format = '', url] = target.split('^');
  const date: Inline = { type: 'date', seconds: Number(seconds), format: decodeEntities(format), fallback };
  return url && isFollowable(url) ? { type: 'link', url: decodeEntities(url), children: [date] } : date;
}

/** The name of a user: "@olga"; the ID of an unknown user. */
export function personName(id: string): string {
  return `@${getScreen().state?.people.find((user) => user.id === id)?.name ?? id}`;
}

/** The handle of a user group: "@oncall"; what the app wrote, or else the id, of an unknown one. */
export function groupName(id: string, label: string): string {
  const known = getScreen().state?.groups.find((group) => group.id === id);
  return known ? `@${known.handle}` : label || `@${id}`;
}

/** The name of a channel, as far as this user may know it. */
export function channelName(id: string, label: string): string {
  const known = getScreen().state?.channels.find((channel) => channel.id === id);
  return `#${known?.name ?? (label || 'private channel')}`;
}

const DAY_MS = 86_400_000;

/** Fills the date tokens that the app sends, in the reader's own zone (Slack's "Formatting message text" page). */
export function formatSlackDate(seconds: number, format: string, nowMs: number): string {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return '';
  return format.replace(/\{(\w+)\}/g, (whole, token: string) => fillToken(token, date, nowMs) ?? whole);
}

const FORMATS: Readonly<Record<string, Intl.DateTimeFormatOptions>> = {
  date_short: { month: 'short', day: 'numeric', year: 'numeric' },
  date_long: { weekday: 'long', month: 'long', day: 'numeric', year: 'numeric' },
  time: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
};

function fillToken(token: string, date: Date, nowMs: number): string | undefined {
  const plain = token.replace(/_pretty$/, '');
  const options = FORMATS[plain];
  if (!options) return undefined;
  const near = plain === token ? undefined : nearDay(date, nowMs);
  return near ?? new Intl.DateTimeFormat('en-US', options).format(date);
}

/** "today", "yesterday", "tomorrow"; undefined for other days. */
function nearDay(date: Date, nowMs: number): string | undefined {
  const days = Math.round((startOfDay(date.getTime()) - startOfDay(nowMs)) / DAY_MS);
  return { '-1': 'yesterday', '0': 'today', '1': 'tomorrow' }[String(days)];
}

function startOfDay(ms: number): number {
  return new Date(ms).setHours(0, 0, 0, 0);
}

export function dateOfTs(ts: string): Date {
  return new Date(Number(ts) * 1000);
}

/** "14:05" */
export function clockTime(date: Date): string {
  return new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' }).format(date);
}

/** "Today", "Yesterday", "Tuesday, October 6, 2026" */
export function describeDay(date: Date, nowMs: number): string {
  const words = formatSlackDate(date.getTime() / 1000, '{date_long_pretty}', nowMs);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
