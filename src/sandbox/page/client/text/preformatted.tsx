import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

const COPIED_MS = 2000;

/** A block of code with a button that copies exactly its text. */
export function Preformatted({ children }: { readonly children: ComponentChildren }) {
  const pre = useRef<HTMLPreElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (!pre.current) return;
    try {
      await navigator.clipboard.writeText(pre.current.textContent ?? '');
      setCopied(true);
      setTimeout(() => setCopied(false), COPIED_MS);
    } catch {
      // Without leave to use the clipboard the text is at least selected.
      getSelection()?.selectAllChildren(pre.current);
    }
  };
  return (
    <div class="pre">
      <pre ref={pre}>{children}</pre>
      <button type="button" class="copy" onClick={copy} aria-live="polite">
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}
