import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { isJson, objectsIn, textIn } from '../../../slack/json.ts';
import type { Json } from '../../../slack/page-api.ts';
import { sandboxNow } from '../state.ts';
import { DRAWN_PATTERN, type DrawnEmoji, describeEmoji, findEmoji, withEmoji } from './emoji.ts';
import {
  channelName,
  formatSlackDate,
  groupName,
  type Inline,
  type Paragraph,
  parseMrkdwn,
  personName,
} from './parse.ts';

/** A text object of Block Kit: mrkdwn or plain text. */
export function TextView({ of }: { readonly of: unknown }) {
  if (!isJson(of)) return null;
  const text = textIn(of, 'text');
  if (of.type === 'mrkdwn') return <Mrkdwn text={text} verbatim={of.verbatim === true} />;
  return (
    <span class="plain">
      <Signed text={plainWords(of)} />
    </span>
  );
}

/** The words of a plain text object; its emoji codes are signs unless it says otherwise. */
export function plainWords(of: Json | undefined): string {
  const text = textIn(of, 'text');
  return of?.emoji === false ? text : withEmoji(text);
}

export function Mrkdwn({ text, verbatim = false }: { readonly text: string; readonly verbatim?: boolean }) {
  return (
    <>
      {parseMrkdwn(text, { verbatim }).map((paragraph, index) => (
        <ParagraphView key={index} paragraph={paragraph} />
      ))}
    </>
  );
}

function ParagraphView({ paragraph }: { readonly paragraph: Paragraph }) {
  if (paragraph.type === 'pre') return <Preformatted>{paragraph.text}</Preformatted>;
  const lines = <LinesView lines={paragraph.lines} />;
  return paragraph.type === 'quote' ? <blockquote>{lines}</blockquote> : <div class="lines">{lines}</div>;
}

/** Lines below each other; those that begin with a bullet hang, so that long ones stay readable. */
function LinesView({ lines }: { readonly lines: readonly (readonly Inline[])[] }) {
  return (
    <>
      {lines.map((line, index) => (
        <div key={index} class={startsWithBullet(line) ? 'line hanging' : 'line'}>
          {line.length === 0 ? '\u00a0' : <InlineView parts={line} />}
        </div>
      ))}
    </>
  );
}

function startsWithBullet([first]: readonly Inline[]): boolean {
  return first?.type === 'text' && first.text.startsWith('• ');
}

const TAGS = { bold: 'strong', italic: 'em', strike: 's', code: 'code' } as const;

/** Pieces of a line, as DOM nodes: nothing that an app writes is ever read as HTML. */
function InlineView({ parts }: { readonly parts: readonly Inline[] }) {
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
      return <Signed text={namedSign(part.name)} />;
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

export function RichText({ block }: { readonly block: Json }) {
  return (
    <>
      {objectsIn(block, 'elements').map((part, index) => (
        <Part key={index} part={part} />
      ))}
    </>
  );
}

/** What the app sends: preformatted text. Slack has more. */
function Part({ part }: { readonly part: Json }) {
  const words = objectsIn(part, 'elements').map((each) => textIn(each, 'text'));
  if (part.type === 'rich_text_preformatted') return <Preformatted>{words}</Preformatted>;
  return <span class="quiet unknown">({textIn(part, 'type')} is not in the sandbox)</span>;
}

const COPIED_MS = 2000;

/** A block of code with a button that copies exactly its text. */
export function Preformatted({ children }: { readonly children: ComponentChildren }) {
  const pre = useRef<HTMLPreElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (!pre.current) return;
    try {
      await navigator.clipboard.writeText(pre.current.textContent ?? '');
      setCopied(true);
      setTimeout(() => setCopied(false), COPIED_MS);
    } catch {
      // Without leave to use the clipboard the text is at least selected.
      getSelection()?.selectAllChildren(pre.current);
    }
  };
  return (
    <div class="pre">
      <pre ref={pre}>{children}</pre>
      <button type="button" class="copy" onClick={copy} aria-live="polite">
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}

function dot(color: string) {
  return <circle class={`sign-${color}`} cx="8" cy="8" r="6" />;
}

/** Slack draws emojis from images of its own; so do we those that the app uses: not every machine has a font for them. */
const DRAWINGS: Readonly<Record<DrawnEmoji, ComponentChildren>> = {
  '🟢': dot('green'),
  '🟡': dot('yellow'),
  '🔴': dot('red'),
  '⚪': dot('white'),
  '⚠': (
    <>
      <path class="sign-yellow" d="M8 1.5 15.3 14.5H.7Z" />
      <path class="sign-line" d="M8 6v4M8 12.3v.1" />
    </>
  ),
  '🔒': (
    <>
      <path class="sign-edge" d="M4.8 7.5V5a3.2 3.2 0 0 1 6.4 0v2.5" />
      <rect class="sign-yellow" x="2.8" y="7" width="10.4" height="7.5" rx="1.5" />
    </>
  ),
  '🔑': (
    <>
      <path class="sign-edge" d="M8.2 7.8 14 2M11.2 4.8l2.2 2.2" />
      <circle class="sign-ring" cx="5.5" cy="10.5" r="3.2" />
    </>
  ),
  '✅': (
    <>
      <rect class="sign-green" x="1" y="1" width="14" height="14" rx="3" />
      <path class="sign-check" d="M4.2 8.4 7 11.2 12 5.4" />
    </>
  ),
  '⏳': (
    <>
      <path class="sign-yellow" d="M4 1.5h8L8 8l4 6.5H4L8 8Z" />
      <path class="sign-edge" d="M3.5 1.5h9M3.5 14.5h9" />
    </>
  ),
  '❌': <path class="sign-cross" d="M3.5 3.5l9 9M12.5 3.5l-9 9" />,
  '▫': <rect class="sign-white" x="5" y="5" width="6" height="6" />,
  '✋': (
    <path
      class="sign-yellow"
      d="M3 8.5v-4a1 1 0 0 1 2 0V3a1 1 0 0 1 2 0v-.8a1 1 0 0 1 2 0V3a1 1 0 0 1 2 0v6l1.2-1.6a1 1 0 0 1 1.6 1.2L11 13.5c-.7.9-1.7 1.5-3.3 1.5C4.7 15 3 13 3 10.5Z"
    />
  ),
};

const namedSign = (name: string) => findEmoji(name) ?? `:${name}:`;

export function Reactions({ names }: { readonly names: readonly string[] }) {
  return (
    <div class="reactions">
      {names.map((name) => (
        <span key={name} class="reaction" title={`vps reacted with :${name}:`}>
          <Signed text={namedSign(name)} /> 1
        </span>
      ))}
    </div>
  );
}

function Sign({ emoji }: { readonly emoji: DrawnEmoji }) {
  return (
    <span class="sign" role="img" aria-label={describeEmoji(emoji)}>
      <span class="sign-text">{emoji}</span>
      <svg viewBox="0 0 16 16" aria-hidden="true" focusable="false">
        {DRAWINGS[emoji]}
      </svg>
    </span>
  );
}

export function Signed({ text }: { readonly text: string }) {
  if (!DRAWN_PATTERN.test(text)) return <>{text}</>;
  // With a group in the pattern, every second part is an emoji.
  const parts = text.split(DRAWN_PATTERN);
  return <>{parts.map((part, at) => (at % 2 === 1 ? <Sign key={at} emoji={part as DrawnEmoji} /> : part))}</>;
}
