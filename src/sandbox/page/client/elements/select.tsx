import { useCallback, useRef, useState } from 'preact/hooks';
import type { Json } from '../../../slack/page-api.ts';
import { objectIn } from '../json.ts';
import { findOption, rememberOption, type Spot } from '../state/drafts.ts';
import { useScreen } from '../state/store.ts';
import { plainWords } from '../text/text-view.tsx';
import { listOf } from './entered.ts';
import { knownOptions } from './options.ts';
import { Picker } from './picker.tsx';
import { SelectTrigger } from './select-trigger.tsx';
import type { ElementProps } from './surface.ts';
import { useSpot } from './use-spot.ts';

/** Every menu of options: static and external, single and multi, users and channels. */
export function SelectElement(props: ElementProps) {
  const { block, element } = props;
  const { spot, entered, isBusy, isInput, enter } = useSpot(block, element);
  const state = useScreen((screen) => screen.state);
  const trigger = useRef<HTMLButtonElement>(null);
  /** What was typed on the closed menu; undefined while it is closed. */
  const [typed, setTyped] = useState<string | undefined>();
  const isMulti = String(element.type).startsWith('multi_');
  const chosen = listOf(entered);
  const known = knownOptions(element, state);
  const close = useCallback(() => setTyped(undefined), []);
  const choose = (option: Json) => {
    const value = String(option.value);
    rememberOption(spot, option);
    if (!isMulti) {
      close();
      trigger.current?.focus();
      if (!(isInput && chosen.includes(value))) void enter(value);
    } else if (chosen.includes(value)) void enter(chosen.filter((each) => each !== value));
    else void enter([...chosen, value]);
  };
  const shared = { anchor: trigger, element, spot, isMulti, onChoose: choose, onClose: close };
  const isClearable = isInput && block.optional === true && chosen.length > 0;
  return (
    <span class="select">
      <SelectTrigger
        {...props}
        button={trigger}
        words={chosen.map((value) => wordsOf(value, spot, known))}
        isMulti={isMulti}
        isOpen={typed !== undefined}
        isBusy={isBusy}
        onOpen={setTyped}
        onClose={close}
      />
      {isClearable && <Clear onClear={() => void enter(isMulti ? [] : null)} />}
      {typed !== undefined && <Picker {...shared} chosen={chosen} typed={typed} />}
    </span>
  );
}

function wordsOf(value: string, spot: Spot, known: readonly Json[]): string {
  const option = findOption(spot, value) ?? known.find((each) => each.value === value);
  return option ? plainWords(objectIn(option, 'text')) : value;
}

function Clear({ onClear }: { readonly onClear: () => void }) {
  return (
    <button type="button" class="clear" aria-label="Clear" onClick={onClear}>
      ×
    </button>
  );
}
