import { useRef, useState } from 'preact/hooks';
import { objectIn, objectsIn, textIn } from '../json.ts';
import { isFollowable } from '../text/inline.ts';
import { plainWords } from '../text/text-view.tsx';
import { Menu, type MenuItem } from './menu.tsx';
import type { ElementProps } from './surface.ts';
import { useSpot } from './use-spot.ts';

/** The three dots with up to five things to do. */
export function OverflowElement({ block, element }: ElementProps) {
  const { act, isBusy } = useSpot(block, element);
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const items = objectsIn(element, 'options').map((option): MenuItem => {
    const url = textIn(option, 'url');
    const choose = () => {
      if (isFollowable(url)) window.open(url, '_blank', 'noopener,noreferrer');
      void act(textIn(option, 'value'));
    };
    return { words: plainWords(objectIn(option, 'text')), choose };
  });
  return (
    <>
      <button
        ref={button}
        type="button"
        class="button overflow"
        aria-label={textIn(element, 'accessibility_label') || 'More actions'}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-busy={isBusy}
        onClick={() => setOpen(!isOpen)}
      >
        {isBusy ? <span class="spinner" aria-hidden="true" /> : '•••'}
      </button>
      {isOpen && <Menu anchor={button} label="More actions" items={items} onClose={() => setOpen(false)} />}
    </>
  );
}
