import { objectIn, textIn } from '../json.ts';
import { isFollowable } from '../text/inline.ts';
import { Signed } from '../text/signs.tsx';
import { plainWords } from '../text/text-view.tsx';
import type { ElementProps } from './surface.ts';
import { useSpot } from './use-spot.ts';

/** A button; one with an address opens it, too, and the app still gets the press. */
export function ButtonElement({ block, element }: ElementProps) {
  const { act, isBusy } = useSpot(block, element);
  const style = textIn(element, 'style');
  const url = textIn(element, 'url');
  const press = () => {
    if (isBusy) return;
    if (isFollowable(url)) window.open(url, '_blank', 'noopener,noreferrer');
    void act();
  };
  return (
    <button
      type="button"
      class={`button ${style}`}
      aria-label={textIn(element, 'accessibility_label') || undefined}
      aria-busy={isBusy}
      onClick={press}
    >
      <Signed text={plainWords(objectIn(element, 'text'))} />
      {isFollowable(url) && <span aria-hidden="true"> ↗</span>}
      {isBusy && <span class="spinner" aria-hidden="true" />}
    </button>
  );
}
