import { objectIn, textIn } from '../json.ts';
import type { Question } from '../state/screen.ts';
import { useScreen } from '../state/store.ts';
import { plainWords } from '../text/text-view.tsx';
import { Dialog } from './dialog.tsx';

/** Slack's confirmation dialog, when a question is open. */
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
