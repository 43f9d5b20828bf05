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

export function SmallButton({ label, isBusy, onClick, children }: SmallButtonProps) {
  return (
    <button type="button" class="button small" aria-label={label} aria-busy={isBusy} onClick={onClick}>
      {children}
    </button>
  );
}

interface SectionProps {
  readonly id: string;
  readonly title: ComponentChildren;
  readonly isBusy?: boolean;
  readonly children: ComponentChildren;
}

export function Section({ id, title, isBusy, children }: SectionProps) {
  return (
    <section aria-labelledby={`${id}-title`} aria-busy={isBusy}>
      <h3 id={`${id}-title`}>{title}</h3>
      {children}
    </section>
  );
}
