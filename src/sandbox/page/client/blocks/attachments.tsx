import type { Json } from '../../../slack/page-api.ts';
import { objectsIn, textIn } from '../json.ts';
import { Mrkdwn } from '../text/text-view.tsx';
import { Blocks } from './block-view.tsx';

/** Attachments, as alert tools post them: a bar in their color, title, text and fields; the fallback where there is nothing else. */
export function Attachments({ attachments }: { readonly attachments: readonly Json[] }) {
  return (
    <>
      {attachments.map((attachment, index) => (
        <Attachment key={index} attachment={attachment} />
      ))}
    </>
  );
}

const COLORS: Readonly<Record<string, string>> = { good: '2eb886', warning: 'daa038', danger: 'a30200' };

function Attachment({ attachment }: { readonly attachment: Json }) {
  const color = textIn(attachment, 'color').replace(/^#/, '');
  const hex = COLORS[color] ?? color;
  const [title, text, footer] = ['title', 'text', 'footer'].map((name) => textIn(attachment, name));
  const fields = objectsIn(attachment, 'fields');
  const blocks = objectsIn(attachment, 'blocks');
  const isBare = !title && !text && fields.length === 0 && blocks.length === 0;
  return (
    <div class="attachment" style={/^[0-9a-f]{6}$/i.test(hex) ? { borderColor: `#${hex}` } : undefined}>
      {textIn(attachment, 'pretext') && <Mrkdwn text={textIn(attachment, 'pretext')} />}
      {title && <strong class="attachment-title">{title}</strong>}
      {text && <Mrkdwn text={text} />}
      {fields.length > 0 && (
        <dl class="attachment-fields">
          {fields.map((field, index) => (
            <div key={index}>
              <dt>{textIn(field, 'title')}</dt>
              <dd>{textIn(field, 'value')}</dd>
            </div>
          ))}
        </dl>
      )}
      {blocks.length > 0 && <Blocks blocks={blocks} />}
      {isBare && textIn(attachment, 'fallback')}
      {footer && <div class="attachment-footer">{footer}</div>}
    </div>
  );
}
