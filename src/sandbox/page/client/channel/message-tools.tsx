import { useRef, useState } from 'preact/hooks';
import type { PageMessage } from '../../../slack/page-api.ts';
import { performWithNotice } from '../actions.ts';
import { Menu } from '../elements/menu.tsx';
import { changeScreen, useScreen } from '../state/store.ts';

/** A reply in its thread, and the app's shortcuts for this message; ephemeral messages have none, as in Slack. */
export function MessageTools({ message }: { readonly message: PageMessage }) {
  const shortcuts = useScreen((screen) => screen.state?.shortcuts);
  const openThread = useScreen((screen) => screen.thread);
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const forMessages = (shortcuts ?? []).filter(({ type }) => type === 'message');
  if (message.ephemeral) return null;
  const { channel, ts, threadTs } = message;
  const reply = { words: 'Reply in thread', choose: () => changeScreen({ thread: threadTs ?? ts }) };
  const ofApp = forMessages.map(({ callbackId, name }) => ({
    words: name,
    choose: () => void performWithNotice({ do: 'shortcut', callbackId, message: { channel, ts } }),
  }));
  const items = [...(openThread === '' ? [reply] : []), ...ofApp];
  if (items.length === 0) return null;
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
