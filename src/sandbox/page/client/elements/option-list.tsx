import { useEffect, useRef } from 'preact/hooks';
import type { Json } from '../../../slack/page-api.ts';
import { objectIn } from '../json.ts';
import { TextView } from '../text/text-view.tsx';
import { OptionRow } from './option-row.tsx';
import type { OptionGroup } from './options.ts';

interface OptionListProps {
  readonly id: string;
  readonly groups: readonly OptionGroup[];
  /** The index of the option that Enter takes, counted through all groups. */
  readonly at: number;
  readonly chosen: readonly string[];
  readonly isMulti: boolean;
  readonly onChoose: (option: Json) => void;
}

/** The options of an open menu, in their groups. */
export function OptionList({ id, groups, at, chosen, isMulti, onChoose }: OptionListProps) {
  const list = useRef<HTMLDivElement>(null);
  const options = groups.flatMap((group) => group.options);
  useEffect(() => {
    list.current?.querySelector('.active')?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const rowOf = (option: Json) => {
    const index = options.indexOf(option);
    const value = String(option.value);
    const isChosen = chosen.includes(value);
    const row = { id: `${id}-${index}`, isActive: index === at, isChosen, onChoose: () => onChoose(option) };
    return (
      <OptionRow key={value} {...row}>
        <span class="option-text">
          <OptionText option={option} />
        </span>
        {isChosen && <span aria-hidden="true">✓</span>}
      </OptionRow>
    );
  };
  return (
    <div ref={list} id={id} role="listbox" aria-multiselectable={isMulti} class="options" tabIndex={-1}>
      {groups.map(({ label, options: members }) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a listbox
        <div key={label} role="group" aria-label={label || undefined}>
          {label && <div class="group-label">{label}</div>}
          {members.map(rowOf)}
        </div>
      ))}
    </div>
  );
}

/** The words of an option, with its description below. */
export function OptionText({ option }: { readonly option: Json }) {
  const description = objectIn(option, 'description');
  return (
    <>
      <TextView of={objectIn(option, 'text')} />
      {description && (
        <span class="option-description">
          <TextView of={description} />
        </span>
      )}
    </>
  );
}
