import { useRef, useState } from 'preact/hooks';
import type { PageShortcut } from '../../../slack/page-api.ts';
import { performWithNotice } from '../actions.ts';
import { Menu } from '../elements/menu.tsx';
import { Icon } from '../icon.tsx';

/** The app's global shortcuts, if it has any. */
export function ShortcutsButton({ shortcuts }: { readonly shortcuts: readonly PageShortcut[] }) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const global = shortcuts.filter(({ type }) => type === 'global');
  if (global.length === 0) return null;
  const items = global.map(({ callbackId, name }) => ({
    words: name,
    choose: () => void performWithNotice({ do: 'shortcut', callbackId }),
  }));
  return (
    <>
      <button
        ref={button}
        type="button"
        class="icon-button"
        aria-label="Shortcuts"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="plus" />
      </button>
      {isOpen && <Menu anchor={button} label="Shortcuts" items={items} onClose={() => setOpen(false)} />}
    </>
  );
}
