import type { ComponentChildren } from 'preact';
import { sandboxNow } from '../state/panel-state.ts';
import { formatSlackDate } from './dates.ts';
import { isDrawn } from './drawn-emojis.ts';
import { findEmoji } from './emoji.ts';
import type { Inline } from './inline.ts';
import { channelName, groupName, personName } from './mentions.ts';
import { Signed } from './signs.tsx';

const TAGS = { bold: 'strong', italic: 'em', strike: 's', code: 'code' } as const;

/** Pieces of a line, as DOM nodes: nothing that an app writes is ever read as HTML. */
export function InlineView({ parts }: { readonly parts: readonly Inline[] }) {
  return <>{parts.map(viewOf)}</>;
}

function viewOf(part: Inline): ComponentChildren {
  switch (part.type) {
    case 'text':
      return <Signed text={part.text} />;
    case 'bold':
    case 'italic':
    case 'strike':
    case 'code': {
      const Tag = TAGS[part.type];
      return (
        <Tag>
          <InlineView parts={part.children} />
        </Tag>
      );
    }
    case 'link':
      return (
        <a href={part.url} target="_blank" rel="noopener noreferrer">
          <InlineView parts={part.children} />
        </a>
      );
    case 'user':
      return <span class="mention">{personName(part.id)}</span>;
    case 'channel':
      return <span class="mention">{channelName(part.id, part.label)}</span>;
    case 'group':
      return <span class="mention">{groupName(part.id, part.label)}</span>;
    case 'broadcast':
      return <span class="mention mention-all">@{part.range}</span>;
    case 'date':
      return <SlackDate seconds={part.seconds} format={part.format} fallback={part.fallback} />;
    case 'emoji':
      return <Emoji name={part.name} />;
  }
}

function SlackDate({ seconds, format, fallback }: { seconds: number; format: string; fallback: string }) {
  const words = formatSlackDate(seconds, format, sandboxNow());
  if (words === '') return <>{fallback}</>;
  const whole = new Date(seconds * 1000);
  return (
    <time dateTime={whole.toISOString()} title={whole.toLocaleString()}>
      {words}
    </time>
  );
}

/** An emoji by its name; an unknown one as it was typed. */
function Emoji({ name }: { readonly name: string }) {
  const sign = findEmoji(name);
  if (sign === undefined) return <>{`:${name}:`}</>;
  if (isDrawn(sign)) return <Signed text={sign} />;
  return (
    <span class="emoji" role="img" aria-label={name.replaceAll('_', ' ')} title={`:${name}:`}>
      {sign}
    </span>
  );
}
