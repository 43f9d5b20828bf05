import { Icon } from '../icon.tsx';
import { textIn } from '../json.ts';
import type { ElementProps } from './surface.ts';

/** The alternative text of an image: nothing is fetched from other servers, so there is no picture to show. */
export function ImageView({ element }: Pick<ElementProps, 'element'>) {
  const words = textIn(element, 'alt_text') || 'image';
  return (
    <span class="image" role="img" aria-label={words} title={textIn(element, 'image_url')}>
      <Icon name="image" />
      {words}
    </span>
  );
}
