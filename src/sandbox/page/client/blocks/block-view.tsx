import type { ComponentType } from 'preact';
import { useContext, useId } from 'preact/hooks';
import type { Json } from '../../../slack/page-api.ts';
import { ElementView } from '../elements/element-view.tsx';
import { ImageView } from '../elements/popup.tsx';
import { SurfaceContext } from '../elements/spot.ts';
import { objectIn, objectsIn, textIn } from '../json.ts';
import { type MarkdownBlock, parseMarkdown } from '../text/parse.ts';
import {
  InlineView,
  LinesView,
  Mrkdwn,
  Preformatted,
  plainWords,
  RichText,
  Signed,
  TextView,
} from '../text/view.tsx';
import { Chart } from './charts.tsx';
import { DataTable, Table } from './tables.tsx';

const VIEWS: Readonly<Record<string, ComponentType<BlockProps>>> = {
  section: Section,
  header: ({ block }) => (
    <h3 class="block-header">
      <Signed text={plainWords(objectIn(block, 'text'))} />
    </h3>
  ),
  context: Context,
  divider: () => <hr />,
  image: ({ block }) => (
    <figure>
      {objectIn(block, 'title') && <figcaption>{plainWords(objectIn(block, 'title'))}</figcaption>}
      <ImageView element={block} />
    </figure>
  ),
  actions: Actions,
  context_actions: Actions,
  input: InputBlock,
  alert: Alert,
  rich_text: RichText,
  markdown: Markdown,
  table: Table,
  data_table: DataTable,
  data_visualization: Chart,
  card: Card,
  carousel: Carousel,
  container: Container,
};

/** Blocks, one below the other. */
export function Blocks({ blocks }: { readonly blocks: readonly Json[] }) {
  return (
    <>
      {blocks.map((block) => (
        <div key={textIn(block, 'block_id')} class={`block block-${textIn(block, 'type')}`}>
          <BlockView block={block} />
        </div>
      ))}
    </>
  );
}

function BlockView({ block }: BlockProps) {
  const type = textIn(block, 'type');
  const View = VIEWS[type];
  return View ? <View block={block} /> : <span class="unknown">({type} is not in the sandbox)</span>;
}

function Section({ block }: BlockProps) {
  const accessory = objectIn(block, 'accessory');
  const fields = objectsIn(block, 'fields');
  return (
    <div class="section">
      <div class="section-text">
        <TextView of={block.text} />
        {fields.length > 0 && (
          <div class="fields">
            {fields.map((field, index) => (
              <div key={index}>
                <TextView of={field} />
              </div>
            ))}
          </div>
        )}
      </div>
      {accessory && (
        <div class="accessory">
          <ElementView block={block} element={accessory} />
        </div>
      )}
    </div>
  );
}

function Context({ block }: BlockProps) {
  return (
    <div class="context">
      {objectsIn(block, 'elements').map((each, index) => (
        <div key={index}>{each.type === 'image' ? <ImageView element={each} /> : <TextView of={each} />}</div>
      ))}
    </div>
  );
}

function Actions({ block }: BlockProps) {
  return (
    <div class="actions">
      {objectsIn(block, 'elements').map((element) => (
        <ElementView key={textIn(element, 'action_id')} block={block} element={element} />
      ))}
    </div>
  );
}

/** Blocks with a title, which may be folded away. */
function Container({ block }: BlockProps) {
  const rich = objectIn(block, 'rich_text_title');
  const title = (
    <>
      <strong>{rich ? <RichText block={rich} /> : <TextView of={block.title} />}</strong>
      <div class="card-subtitle">
        <TextView of={block.subtitle} />
      </div>
    </>
  );
  const inside = <Blocks blocks={objectsIn(block, 'child_blocks')} />;
  if (block.is_collapsible !== true)
    return (
      <div class="card">
        {title}
        {inside}
      </div>
    );
  return (
    <details class="card" open={block.default_collapsed !== true}>
      <summary>{title}</summary>
      {inside}
    </details>
  );
}

function Alert({ block }: BlockProps) {
  const level = textIn(block, 'level') || 'default';
  return (
    <div class={`alert ${level}`} role="note">
      <span class="alert-sign" aria-label={level === 'default' ? 'note' : level} role="img">
        {ALERT_SIGNS[level] ?? 'i'}
      </span>
      <div>
        <TextView of={block.text} />
      </div>
    </div>
  );
}

const ALERT_SIGNS: Readonly<Record<string, string>> = { warning: '!', error: '!', success: '✓', info: 'i' };

/** What every view of a block is given. */
export interface BlockProps {
  readonly block: Json;
}

/** A card: picture, title, text, buttons. */
function Card({ block }: BlockProps) {
  const picture = objectIn(block, 'hero_image') ?? objectIn(block, 'icon');
  return (
    <div class="card">
      {picture && <ImageView element={picture} />}
      <div class="card-title">
        <TextView of={block.title} />
      </div>
      <div class="card-subtitle">
        <TextView of={block.subtitle} />
      </div>
      <TextView of={block.body} />
      <div class="actions">
        {objectsIn(block, 'actions').map((element) => (
          <ElementView key={textIn(element, 'action_id')} block={block} element={element} />
        ))}
      </div>
    </div>
  );
}

/** Cards next to each other. */
function Carousel({ block }: BlockProps) {
  return (
    <div class="carousel">
      {objectsIn(block, 'elements').map((card, index) => (
        <Card key={index} block={card} />
      ))}
    </div>
  );
}

/** An input with its label above, its hint and its error below. */
function InputBlock({ block }: { readonly block: Json }) {
  const { errors } = useContext(SurfaceContext);
  const id = useId();
  const element = objectIn(block, 'element');
  const hint = plainWords(objectIn(block, 'hint'));
  const error = errors[textIn(block, 'block_id')];
  return (
    <div class={error ? 'input wrong' : 'input'}>
      <label class="input-label" id={id} for={`${id}-field`}>
        {plainWords(objectIn(block, 'label'))}
        {block.optional === true && <span class="optional"> (optional)</span>}
      </label>
      {element && (
        <ElementView
          block={block}
          element={element}
          labelId={id}
          describedBy={`${id}-error ${id}-hint`}
          isWrong={error !== undefined}
        />
      )}
      <div class="input-error" id={`${id}-error`} role="alert">
        {error}
      </div>
      {hint && (
        <div class="input-hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
    </div>
  );
}

/** Slack's markdown block. */
function Markdown({ block }: BlockProps) {
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
