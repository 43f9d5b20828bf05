import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { PageView } from '../../../slack/page-api.ts';
import { perform, performWithNotice, showNotice } from '../actions.ts';
import { settleFills } from '../elements/use-spot.ts';
import { unsentOf } from '../state/drafts.ts';
import { useScreen } from '../state/store.ts';
import { Dialog } from './dialog.tsx';
import { ModalLook } from './modal-look.tsx';

/** The modal on top of the stack, if one is open. */
export function OpenModal() {
  const views = useScreen((screen) => screen.state?.views);
  const view = views?.at(-1);
  if (!views || !view) return null;
  const close = (all: boolean) => void performWithNotice({ do: 'close', view: view.id, all });
  return (
    <Dialog class="dialog modal" labelledBy="modal-title" onEscape={() => close(false)} onOpen={focusField}>
      <ModalForm key={view.id} view={view} isStacked={views.length > 1} onClose={close} />
    </Dialog>
  );
}

interface ModalFormProps {
  readonly view: PageView;
  readonly isStacked: boolean;
  readonly onClose: (all: boolean) => void;
}

function ModalForm({ view, isStacked, onClose }: ModalFormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [isBusy, setBusy] = useState(false);
  useFocus(form, view);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    await settleFills();
    const done = await perform({ do: 'submit', view: view.id, values: unsentOf(view) });
    setBusy(false);
    // Errors are shown at their fields; only other refusals need a notice.
    if (!done.ok && !done.errors) showNotice(done.words);
  };
  return (
    <form ref={form} class="modal-form" noValidate onSubmit={submit} aria-busy={isBusy}>
      <ModalLook view={view} titleId="modal-title" isStacked={isStacked} isBusy={isBusy} onClose={onClose} />
    </form>
  );
}

const FIELDS = 'input:not([type=hidden]), textarea, .select-trigger';

/** Focus goes to the first field that is wrong, or to the first field once a loading view has become a form. */
function useFocus(form: { readonly current: HTMLFormElement | null }, view: PageView): void {
  useLayoutEffect(() => {
    if (form.current) focusField(form.current);
  }, [form, view.hash, view.errors]);
}

function focusField(within: HTMLElement): void {
  const body = within.querySelector('.modal-body');
  const wrong = body?.querySelector<HTMLElement>(`.wrong :is(${FIELDS})`);
  if (!wrong && body?.contains(document.activeElement)) return;
  const first = wrong ?? body?.querySelector<HTMLElement>(FIELDS);
  (first ?? within.querySelector<HTMLElement>('[type=submit], .modal-foot button'))?.focus();
}
