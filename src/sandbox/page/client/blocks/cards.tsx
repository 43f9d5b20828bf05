import { ElementView } from '../elements/element-view.tsx';
import { ImageView } from '../elements/image.tsx';
import { objectIn, objectsIn, textIn } from '../json.ts';
import { TextView } from '../text/text-view.tsx';
import type { BlockProps } from './block-props.ts';

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

/** Cards next to each other. */
export function Carousel({ block }: BlockProps) {
  return (
    <div class="carousel">
      {objectsIn(block, 'elements').map((card, index) => (
        <Card key={index} block={card} />
      ))}
    </div>
  );
}
