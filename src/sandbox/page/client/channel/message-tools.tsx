import { useRef, useState } from 'preact/hooks';
import type { PageMessage } from '../../../slack/page-api.ts';
import { performWithNotice } from '../actions.ts';
import { Menu } from '../elements/menu.tsx';
import { useScreen } from '../state/store.ts';

/** The app's shortcuts for this message; ephemeral messages have none, as in Slack. */
export function MessageTools({ message }: { readonly message: PageMessage }) {
  const shortcuts = useScreen((screen) => screen.state?.shortcuts);
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const forMessages = (shortcuts ?? []).filter(({ type }) => type === 'message');
  if (message.ephemeral || forMessages.length === 0) return null;
  const { channel, ts } = message;
  const items = forMessages.map(({ callbackId, name }) => ({
    words: name,
    choose: () => void performWithNotice({ do: 'shortcut', callbackId, message: { channel, ts } }),
  }));
  return (
    <div class={`message-tools ${isOpen ? 'open' : ''}`}>
      <button
        ref={button}
        type="button"
        class="button small"
        aria-label="More message actions"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        ⋮
      </button>
      {isOpen && (
        <Menu anchor={button} label="Message actions" items={items} onClose={() => setOpen(false)} />
      )}
    </div>
  );
}
