import type { ComponentChildren, RefObject } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface PopupProps {
  readonly anchor: RefObject<HTMLElement>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Above the anchor when there is room: for the composer at the bottom. */
  readonly above?: boolean;
  readonly class?: string;
  /** At least as wide as the anchor, or just as wide. */
  readonly wide?: boolean | 'same';
}

const GAP_PX = 4;
const EDGE_PX = 8;

/** A menu or list in the browser's top layer, next to its anchor, so that nothing clips it; Escape goes back to the anchor. */
export function Popup({ anchor, onClose, children, above = false, class: name = '', wide }: PopupProps) {
  const popup = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = popup.current;
    if (!element) return;
    element.showPopover();
    const put = () => place(element, anchor.current, above, wide);
    put();
    const sizes = new ResizeObserver(put);
    sizes.observe(element);
    const closed = new AbortController();
    addEventListener('scroll', put, { capture: true, signal: closed.signal });
    addEventListener('resize', put, { signal: closed.signal });
    return () => {
      sizes.disconnect();
      closed.abort();
    };
  }, [anchor, above, wide]);
  useEffect(() => {
    const closeOutside = (event: Event) => {
      const target = event.target as Node;
      if (!popup.current?.contains(target) && !anchor.current?.contains(target)) onClose();
    };
    // Before anything under the popup, such as a modal, takes the key for itself.
    const closeByKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      onClose();
      anchor.current?.focus();
    };
    const closed = new AbortController();
    const first = { capture: true, signal: closed.signal };
    addEventListener('pointerdown', closeOutside, first);
    addEventListener('focusin', closeOutside, first);
    addEventListener('keydown', closeByKey, first);
    return () => closed.abort();
  }, [anchor, onClose]);
  return (
    <div ref={popup} popover="manual" class={`popup ${name}`}>
      {children}
    </div>
  );
}

function place(popup: HTMLElement, anchor: HTMLElement | null, above: boolean, wide: PopupProps['wide']) {
  if (!anchor) return;
  const at = anchor.getBoundingClientRect();
  const room = `${Math.min(at.width, innerWidth - 2 * EDGE_PX)}px`;
  if (wide) popup.style.minWidth = room;
  if (wide === 'same') popup.style.maxWidth = room;
  const { offsetWidth: width, offsetHeight: height } = popup;
  const below = innerHeight - at.bottom - GAP_PX - EDGE_PX;
  const over = at.top - GAP_PX - EDGE_PX;
  const isOver = above ? over >= height || over > below : below < height && over > below;
  const top = isOver ? at.top - GAP_PX - height : at.bottom + GAP_PX;
  popup.style.top = `${Math.max(EDGE_PX, Math.min(top, innerHeight - height - EDGE_PX))}px`;
  popup.style.left = `${Math.max(EDGE_PX, Math.min(at.left, innerWidth - width - EDGE_PX))}px`;
}

interface MenuProps {
  readonly anchor: RefObject<HTMLElement>;
  readonly label: string;
  readonly items: readonly { readonly words: string; readonly choose: () => void }[];
  readonly onClose: () => void;
}

interface MenuButtonProps extends Pick<MenuProps, 'items' | 'label'> {
  readonly class: string;
  /** What the menu itself is called. */
  readonly menu: string;
  readonly children: ComponentChildren;
}

export function MenuButton({ class: name, label, menu, items, children }: MenuButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        ref={button}
        type="button"
        class={name}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {children}
      </button>
      {isOpen && <Menu anchor={button} label={menu} items={items} onClose={() => setOpen(false)} />}
    </>
  );
}

/** A menu next to its button: arrow keys move, Enter chooses, Escape goes back to the button. */
function Menu({ anchor, label, items, onClose }: MenuProps) {
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

interface OptionRowProps {
  readonly id: string;
  /** Enter takes it. */
  readonly isActive: boolean;
  readonly isChosen: boolean;
  /** At the end of the row. */
  readonly mark?: string;
  readonly onChoose: () => void;
  readonly children: ComponentChildren;
}

/** An option of an open list, in sight while it is active. The focus stays in the field that the list belongs to. */
export function OptionRow({ id, isActive, isChosen, mark, onChoose, children }: OptionRowProps) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isActive) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isActive]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field that has the focus handles the keys
    <div
      ref={row}
      id={id}
      role="option"
      aria-selected={isChosen}
      tabIndex={-1}
      class={`option ${isActive ? 'active' : ''}`}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      <span class="grow option-text">{children}</span>
      {mark && <span aria-hidden="true">{mark}</span>}
    </div>
  );
}

/** The attributes of every region that scrolls: without a tab stop, it could not be scrolled with the keyboard alone. */
export const scrollable = { tabIndex: 0 } as const;
