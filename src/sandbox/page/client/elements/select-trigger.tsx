import type { RefObject } from 'preact';
import { objectIn } from '../json.ts';
import { Signed } from '../text/signs.tsx';
import { plainWords } from '../text/text-view.tsx';
import type { ElementProps } from './surface.ts';

interface SelectTriggerProps extends ElementProps {
  readonly button: RefObject<HTMLButtonElement>;
  /** Of what is chosen. */
  readonly words: readonly string[];
  readonly isMulti: boolean;
  readonly isOpen: boolean;
  readonly isBusy: boolean;
  /** With what was typed, if it was opened by typing. */
  readonly onOpen: (typed: string) => void;
  readonly onClose: () => void;
}

/** The closed menu: shows what is chosen, and opens by a press, arrow down, or typing. */
export function SelectTrigger(props: SelectTriggerProps) {
  const { element, labelId, describedBy, isWrong, words, isOpen, isBusy, onOpen, onClose } = props;
  const placeholder = plainWords(objectIn(element, 'placeholder')) || 'Choose…';
  const openByKey = (event: KeyboardEvent) => {
    const isLetter = event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey;
    if (!isLetter && event.key !== 'ArrowDown') return;
    event.preventDefault();
    onOpen(isLetter ? event.key : '');
  };
  const valueId = labelId && `${labelId}-value`;
  const chips = words.map((each) => (
    <span key={each} class="chip">
      <Signed text={each} />
    </span>
  ));
  return (
    <button
      ref={props.button}
      type="button"
      class={`select-trigger ${words.length > 0 ? '' : 'empty'}`}
      aria-haspopup="listbox"
      aria-expanded={isOpen}
      aria-label={labelId ? undefined : [placeholder, ...words].join(': ')}
      aria-labelledby={labelId ? `${labelId} ${valueId}` : undefined}
      aria-describedby={describedBy}
      aria-invalid={isWrong}
      aria-busy={isBusy}
      onClick={() => (isOpen ? onClose() : onOpen(''))}
      onKeyDown={openByKey}
    >
      <span class="select-value" id={valueId}>
        {words.length === 0 ? placeholder : props.isMulti ? chips : <Signed text={words.join('')} />}
      </span>
      {isBusy ? <span class="spinner" aria-hidden="true" /> : <span class="chevron" aria-hidden="true" />}
    </button>
  );
}
