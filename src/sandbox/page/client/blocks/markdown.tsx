import { textIn } from '../json.ts';
import { InlineView } from '../text/inline-view.tsx';
import { type MarkdownBlock, parseMarkdown } from '../text/markdown.ts';
import { Preformatted } from '../text/preformatted.tsx';
import { LinesView } from '../text/text-view.tsx';
import type { BlockProps } from './block-props.ts';

/** Slack's markdown block. */
export function Markdown({ block }: BlockProps) {
  return (
    <div class="markdown">
      {parseMarkdown(textIn(block, 'text')).map((part, index) => (
        <Part key={index} part={part} />
      ))}
    </div>
  );
}

/** Below the headings of the page itself. */
const HEADINGS: Readonly<Record<number, 'h3' | 'h4' | 'h5'>> = { 1: 'h3', 2: 'h4', 3: 'h5' };

function Part({ part }: { readonly part: MarkdownBlock }) {
  switch (part.type) {
    case 'heading': {
      const Tag = HEADINGS[part.level] ?? 'h6';
      return (
        <Tag class={`heading-${part.level}`}>
          <InlineView parts={part.line} />
        </Tag>
      );
    }
    case 'paragraph':
      return (
        <div class="lines">
          <LinesView lines={part.lines} />
        </div>
      );
    case 'quote':
      return (
        <blockquote>
          <LinesView lines={part.lines} />
        </blockquote>
      );
    case 'list': {
      const items = part.items.map((item, index) => (
        <li key={index}>
          <InlineView parts={item} />
        </li>
      ));
      return part.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case 'pre':
      return <Preformatted>{part.text}</Preformatted>;
    case 'rule':
      return <hr />;
  }
}
