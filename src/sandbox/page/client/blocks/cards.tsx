import { ElementView } from '../elements/element-view.tsx';
import { ImageView } from '../elements/image.tsx';
import { objectIn, objectsIn, textIn } from '../json.ts';
import { RichText } from '../text/rich-text.tsx';
import { TextView } from '../text/text-view.tsx';
import { type BlockProps, Blocks } from './block-view.tsx';

/** A card: picture, title, text, buttons. */
export function Card({ block }: BlockProps) {
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

/** Cards beside each other. */
export function Carousel({ block }: BlockProps) {
  return (
    <div class="carousel">
      {objectsIn(block, 'elements').map((card, index) => (
        <Card key={index} block={card} />
      ))}
    </div>
  );
}

/** Blocks with a title, which may be folded away. */
export function Container({ block }: BlockProps) {
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
