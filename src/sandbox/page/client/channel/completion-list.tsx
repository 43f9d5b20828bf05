import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { OptionRow } from '../elements/option-row.tsx';
import { Popup } from '../elements/popup.tsx';
import type { Completion } from './complete.ts';

interface CompletionListProps {
  readonly id: string;
  readonly anchor: RefObject<HTMLElement>;
  readonly completions: readonly Completion[];
  readonly at: number;
  readonly onChoose: (completion: Completion) => void;
  readonly onClose: () => void;
}

/** What can be completed, above the composer, which handles the keys. */
export function CompletionList({ id, anchor, completions, at, onChoose, onClose }: CompletionListProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('.active')?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  return (
    <Popup anchor={anchor} onClose={onClose} above wide="same" class="completions">
      <div ref={list} id={id} role="listbox" aria-label="Completions" class="options" tabIndex={-1}>
        {completions.map((completion, index) => (
          <OptionRow
            key={completion.title}
            id={`${id}-${index}`}
            isActive={index === at}
            isChosen={index === at}
            onChoose={() => onChoose(completion)}
          >
            <span class="option-text">
              <span class="completion-title">{completion.title}</span>
              <span class="option-description">{completion.detail}</span>
            </span>
          </OptionRow>
        ))}
      </div>
    </Popup>
  );
}
