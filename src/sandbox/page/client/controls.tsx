import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

interface IconButtonProps {
  readonly name: IconName;
  readonly label: string;
  readonly class?: string;
  readonly onClick: () => void;
}

/** A button with nothing but a drawing on it. */
export function IconButton({ name, label, class: more = '', onClick }: IconButtonProps) {
  return (
    <button type="button" class={`icon-button ${more}`} aria-label={label} onClick={onClick}>
      <Icon name={name} />
    </button>
  );
}

interface SmallButtonProps {
  /** Where the words alone don't say what it does. */
  readonly label?: string;
  readonly isBusy?: boolean;
  readonly onClick: () => void;
  readonly children: ComponentChildren;
}

/** A button of the panel. */
export function SmallButton({ label, isBusy, onClick, children }: SmallButtonProps) {
  return (
    <button type="button" class="button small" aria-label={label} aria-busy={isBusy} onClick={onClick}>
      {children}
    </button>
  );
}

interface SegmentsProps<Value extends string> {
  readonly name: string;
  readonly legend: string;
  readonly options: readonly (readonly [Value, string])[];
  readonly chosen: Value;
  readonly onChoose: (value: Value) => void;
}

/** One choice of a few, all of them in sight. */
export function Segments<Value extends string>(props: SegmentsProps<Value>) {
  const { name, legend, options, chosen, onChoose } = props;
  return (
    <fieldset class="segments">
      <legend class="visually-hidden">{legend}</legend>
      {options.map(([value, words]) => (
        <label key={value} class="segment">
          <input
            type="radio"
            name={name}
            class="visually-hidden"
            checked={value === chosen}
            onChange={() => onChoose(value)}
          />
          {words}
        </label>
      ))}
    </fieldset>
  );
}
