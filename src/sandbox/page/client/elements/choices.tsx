import { useId } from 'preact/hooks';
import { objectsIn } from '../json.ts';
import { listOf } from './entered.ts';
import { OptionText } from './option-list.tsx';
import type { ElementProps } from './surface.ts';
import { useSpot } from './use-spot.ts';

/** Radio buttons and checkboxes. */
export function ChoicesElement({ block, element, labelId, describedBy, isWrong }: ElementProps) {
  const { entered, enter } = useSpot(block, element);
  const name = useId();
  const chosen = listOf(entered);
  const isRadio = element.type === 'radio_buttons';
  const choose = (value: string, isOn: boolean) => {
    if (isRadio) return void enter(value);
    const others = chosen.filter((each) => each !== value);
    void enter(isOn ? [...others, value] : others);
  };
  return (
    <fieldset class="choices" aria-labelledby={labelId} aria-describedby={describedBy} aria-invalid={isWrong}>
      {objectsIn(element, 'options').map((option) => (
        <label key={String(option.value)} class="choice">
          <input
            type={isRadio ? 'radio' : 'checkbox'}
            name={name}
            checked={chosen.includes(String(option.value))}
            onChange={(event) => choose(String(option.value), event.currentTarget.checked)}
          />
          <span>
            <OptionText option={option} />
          </span>
        </label>
      ))}
    </fieldset>
  );
}
