import type { ComponentType } from 'preact';
import type { Json } from '../../../slack/page-api.ts';
import { ElementView } from '../elements/element-view.tsx';
import { ImageView } from '../elements/image.tsx';
import { objectIn, objectsIn, textIn } from '../json.ts';
import { RichText } from '../text/rich-text.tsx';
import { Signed } from '../text/signs.tsx';
import { plainWords, TextView } from '../text/text-view.tsx';
import type { BlockProps } from './block-props.ts';
import { Card, Carousel } from './cards.tsx';
import { Chart } from './chart.tsx';
import { DataTable } from './data-table.tsx';
import { InputBlock } from './input.tsx';
import { Markdown } from './markdown.tsx';
import { Table } from './table.tsx';

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
