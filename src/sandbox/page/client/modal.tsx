import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { objectIn, textIn } from '../../slack/json.ts';
import type { PageView } from '../../slack/page-api.ts';
import { perform, performWithNotice, showNotice } from './actions.ts';
import { Blocks } from './blocks/block-view.tsx';
import { IconButton } from './controls.tsx';
import { SurfaceContext, settleFills } from './elements/spot.ts';
import { type Question, useScreen } from './state.ts';
import { plainWords } from './text/view.tsx';

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
  // Focus goes to the first field that is wrong, or to the first field once a loading view has become a form.
  useLayoutEffect(() => {
    if (form.current) focusField(form.current);
  }, [form, view.hash, view.errors]);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    // A field that is typed in tells the server when it loses the focus.
    form.current?.querySelector<HTMLElement>(':is(input, textarea):focus')?.blur();
    await settleFills();
    const done = await perform({ do: 'submit', view: view.id });
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

function focusField(within: HTMLElement): void {
  const body = within.querySelector('.modal-body');
  const wrong = body?.querySelector<HTMLElement>(`.wrong :is(${FIELDS})`);
  if (!wrong && body?.contains(document.activeElement)) return;
  const first = wrong ?? body?.querySelector<HTMLElement>(FIELDS);
  (first ?? within.querySelector<HTMLElement>('[type=submit], .modal-foot button'))?.focus();
}

interface ModalLookProps extends ModalFormProps {
  readonly titleId: string;
  readonly isBusy: boolean;
}

export function ModalLook({ view, titleId, isStacked, isBusy, onClose }: ModalLookProps) {
  return (
    <>
      <header class="row modal-head">
        {isStacked && <IconButton name="back" label="Back" onClick={() => onClose(false)} />}
        <h2 id={titleId}>{view.title}</h2>
        <IconButton name="close" label="Close" onClick={() => onClose(true)} />
      </header>
      <div class="modal-body">
        <SurfaceContext.Provider
          value={{ place: { view: view.id }, values: view.values, errors: view.errors }}
        >
          <Blocks blocks={view.blocks} />
        </SurfaceContext.Provider>
      </div>
      <div role="alert" class={view.trouble ? 'modal-trouble' : ''}>
        {view.trouble}
      </div>
      <footer class="modal-foot">
        <button type="button" class="button" onClick={() => onClose(false)}>
          {view.close}
        </button>
        {view.submit !== undefined && (
          <button type="submit" class="button primary" aria-disabled={isBusy}>
            {view.submit}
            {isBusy && <span class="spinner" aria-hidden="true" />}
          </button>
        )}
      </footer>
    </>
  );
}

export function ConfirmDialog() {
  const question = useScreen((screen) => screen.question);
  return question && <Asking question={question} />;
}

function Asking({ question: { dialog, answer } }: { readonly question: Question }) {
  const words = (field: string, otherwise: string) => plainWords(objectIn(dialog, field)) || otherwise;
  const style = textIn(dialog, 'style') === 'danger' ? 'danger' : 'primary';
  return (
    <Dialog
      class="dialog confirm"
      role="alertdialog"
      labelledBy="confirm-title"
      onEscape={() => answer(false)}
      // Enter on a question that one did not expect must not do any harm.
      onOpen={(shown) => shown.querySelector<HTMLElement>('.deny')?.focus()}
    >
      <h2 id="confirm-title">{words('title', 'Are you sure?')}</h2>
      <div class="dialog-body">
        {/* Slack draws this text plain, whatever its type says. */}
        <p>{textIn(objectIn(dialog, 'text'), 'text')}</p>
      </div>
      <div class="dialog-foot">
        <button type="button" class="button deny" onClick={() => answer(false)}>
          {words('deny', 'Cancel')}
        </button>
        <button type="button" class={`button ${style}`} onClick={() => answer(true)}>
          {words('confirm', 'Yes')}
        </button>
      </div>
    </Dialog>
  );
}

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
function Dialog(props: DialogProps) {
  const { labelledBy, class: name, onEscape, onOpen, children, role = 'dialog' } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    if (element) onOpen(element);
    return () => {
      element?.close();
      if (!(before instanceof HTMLElement) || !before.isConnected) return;
      // After a dialog was closed with the mouse, Chromium gives a text field the focus, but no keyboard input before its second focus.
      before.focus();
      before.blur();
      before.focus();
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
