import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly labelledBy: string;
  readonly class: string;
  readonly onEscape: () => void;
  /** Where focus goes first. */
  readonly onOpen: (dialog: HTMLElement) => void;
  readonly children: ComponentChildren;
  readonly role?: 'dialog' | 'alertdialog';
}

/** The browser's own modal dialog: focus stays inside it, and goes back to where it was. */
export function Dialog(props: DialogProps) {
  const { labelledBy, class: name, onEscape, onOpen, children, role = 'dialog' } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    if (element) onOpen(element);
    return () => {
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={name}
      role={role}
      aria-labelledby={labelledBy}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        onEscape();
      }}
      onCancel={(event) => {
        // The phone's back gesture: the app decides what is open, not the browser.
        event.preventDefault();
        onEscape();
      }}
    >
      {children}
    </dialog>
  );
}
