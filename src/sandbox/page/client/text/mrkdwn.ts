import { decodeEntities, type Inline, plainInline } from './inline.ts';
import { parseReference } from './reference.ts';

export type Paragraph =
  | { readonly type: 'lines' | 'quote'; readonly lines: readonly (readonly Inline[])[] }
  | { readonly type: 'pre'; readonly text: string };

export interface MrkdwnOptions {
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
/** What starts something other than text, tried at every place; the first group is its content. */
const SPANS: readonly [RegExp, (content: string) => Inline][] = [
  [/`([^`\n]+)`/y, (content) => ({ type: 'code', children: parseCode(content) })],
  [/<([^<>\n]+)>/y, parseReference],
  [/:([a-z0-9_+'-]+):/y, (name) => ({ type: 'emoji', name })],
];
const BARE_LINK = /(https?:\/\/[^\s<>|]*[^\s<>|.,;:!?)'"])/y;

/** Reads one line. */
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

function matchSpan(
  spans: readonly (readonly [RegExp, (content: string) => Inline])[],
  line: string,
  at: number,
) {
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
