import type { ComponentChildren } from 'preact';

interface OptionRowProps {
  readonly id: string;
  /** Enter takes it. */
  readonly isActive: boolean;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly children: ComponentChildren;
}

/** An option of an open list. The focus stays in the field that the list belongs to. */
export function OptionRow({ id, isActive, isChosen, onChoose, children }: OptionRowProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field that has the focus handles the keys
    <div
      id={id}
      role="option"
      aria-selected={isChosen}
      tabIndex={-1}
      class={`option ${isActive ? 'active' : ''}`}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      {children}
    </div>
  );
}
