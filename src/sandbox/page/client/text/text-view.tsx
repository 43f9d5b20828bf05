import type { Json } from '../../../slack/page-api.ts';
import { isJson, textIn } from '../json.ts';
import { withEmoji } from './emoji.ts';
import type { Inline } from './inline.ts';
import { InlineView } from './inline-view.tsx';
import { type Paragraph, parseMrkdwn } from './mrkdwn.ts';
import { Preformatted } from './preformatted.tsx';
import { Signed } from './signs.tsx';

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

/** Slack's mrkdwn. */
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
export function LinesView({ lines }: { readonly lines: readonly (readonly Inline[])[] }) {
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
