import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useRef } from 'preact/hooks';
import { Popup } from './popup.tsx';

export interface MenuItem {
  readonly words: string;
  readonly choose: () => void;
}

interface MenuProps {
  readonly anchor: RefObject<HTMLElement>;
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly onClose: () => void;
}

/** A menu next to its button: arrow keys move, Enter chooses, Escape goes back to the button. */
export function Menu({ anchor, label, items, onClose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  const close = useCallback(() => {
    anchor.current?.focus();
    onClose();
  }, [anchor, onClose]);
  useLayoutEffect(() => menu.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus(), []);
  const move = (event: KeyboardEvent) => {
    const all = [...(menu.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === 'Tab') close();
    else if (to !== undefined) all.at(to % all.length)?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <Popup anchor={anchor} onClose={onClose}>
      <div ref={menu} role="menu" aria-label={label} class="menu" tabIndex={-1} onKeyDown={move}>
        {items.map(({ words, choose }) => (
          <button
            key={words}
            type="button"
            role="menuitem"
            tabIndex={-1}
            onClick={() => {
              close();
              choose();
            }}
          >
            {words}
          </button>
        ))}
      </div>
    </Popup>
  );
}
