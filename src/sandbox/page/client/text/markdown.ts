import { type Inline, isFollowable, plainInline } from './inline.ts';

export type MarkdownBlock =
  | { readonly type: 'heading'; readonly level: number; readonly line: readonly Inline[] }
  | { readonly type: 'paragraph' | 'quote'; readonly lines: readonly (readonly Inline[])[] }
  | { readonly type: 'list'; readonly ordered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly type: 'pre'; readonly text: string }
  | { readonly type: 'rule' };

/** Reads the plain part of Markdown that Slack's markdown block shows: no HTML, no nesting of lists. */
export function parseMarkdown(text: string): readonly MarkdownBlock[] {
  return text.split(/^```[^\n]*\n([\s\S]*?)^```[ \t]*$/gm).flatMap((part, index) =>
    index % 2 === 1
      ? [{ type: 'pre' as const, text: part.replace(/\n$/, '') }]
      : part
          .split(/\n\s*\n|(?<=^#{1,6} [^\n]*)\n/gm)
          .filter((chunk) => chunk.trim() !== '')
          .map(parseChunk),
  );
}

function parseChunk(chunk: string): MarkdownBlock {
  const lines = chunk.replace(/^\n+|\s+$/g, '').split('\n');
  const heading = /^(#{1,6}) (.*)$/.exec(lines[0] ?? '');
  if (heading && lines.length === 1)
    return { type: 'heading', level: heading[1]?.length ?? 1, line: parseMarkdownLine(heading[2] ?? '') };
  if (lines.length === 1 && /^(-{3,}|\*{3,})$/.test(lines[0] ?? '')) return { type: 'rule' };
  const strip = (mark: RegExp) => lines.map((line) => parseMarkdownLine(line.replace(mark, '')));
  const all = (mark: RegExp) => lines.every((line) => mark.test(line));
  if (all(/^\s*[-*+] /)) return { type: 'list', ordered: false, items: strip(/^\s*[-*+] (\[[ x]\] )?/) };
  if (all(/^\s*\d+[.)] /)) return { type: 'list', ordered: true, items: strip(/^\s*\d+[.)] /) };
  if (all(/^>/)) return { type: 'quote', lines: strip(/^> ?/) };
  return { type: 'paragraph', lines: strip(/^$/) };
}

const SPAN =
  /`([^`]+)`|\*\*(.+?)\*\*|__(.+?)__|\*([^*\s][^*]*)\*|(?<!\w)_([^_\s][^_]*)_(?!\w)|~~(.+?)~~|\[([^\]]+)\]\(([^()\s]+)\)|:([a-z0-9_+-]+):/g;

/** Reads one line of Markdown. */
function parseMarkdownLine(line: string): readonly Inline[] {
  const found: Inline[] = [];
  let from = 0;
  for (const match of line.matchAll(SPAN)) {
    if (match.index > from) found.push(plainInline(line.slice(from, match.index)));
    found.push(spanOf(match));
    from = match.index + match[0].length;
  }
  if (from < line.length) found.push(plainInline(line.slice(from)));
  return found;
}

function spanOf(match: RegExpMatchArray): Inline {
  const [whole, code, bold, bold2, italic, italic2, strike, label, url, emoji] = match;
  if (code !== undefined) return { type: 'code', children: [plainInline(code)] };
  const strong = bold ?? bold2;
  if (strong !== undefined) return { type: 'bold', children: parseMarkdownLine(strong) };
  const slanted = italic ?? italic2;
  if (slanted !== undefined) return { type: 'italic', children: parseMarkdownLine(slanted) };
  if (strike !== undefined) return { type: 'strike', children: parseMarkdownLine(strike) };
  if (emoji !== undefined) return { type: 'emoji', name: emoji };
  const children = parseMarkdownLine(label ?? '');
  return url && isFollowable(url) ? { type: 'link', url, children } : plainInline(whole);
}
