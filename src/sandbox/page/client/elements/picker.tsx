import type { RefObject } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Json } from '../../../slack/page-api.ts';
import type { Spot } from '../state/drafts.ts';
import { useScreen } from '../state/store.ts';
import { OptionList } from './option-list.tsx';
import { useOffer } from './options.ts';
import { Popup } from './popup.tsx';

interface PickerProps {
  readonly anchor: RefObject<HTMLButtonElement>;
  readonly element: Json;
  readonly spot: Spot;
  readonly chosen: readonly string[];
  /** What was typed on the closed menu. */
  readonly typed: string;
  readonly isMulti: boolean;
  readonly onChoose: (option: Json) => void;
  readonly onClose: () => void;
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };

/** The open menu: a search field, and the options that fit below it. */
export function Picker({ anchor, element, spot, chosen, typed, isMulti, onChoose, onClose }: PickerProps) {
  const state = useScreen((screen) => screen.state);
  const [query, setQuery] = useState(typed);
  const [active, setActive] = useState(0);
  const search = useRef<HTMLInputElement>(null);
  const id = useId();
  const { groups, note, isFresh } = useOffer(element, spot, query, state);
  const options = groups.flatMap((group) => group.options);
  const at = Math.max(0, Math.min(active, options.length - 1));
  const shownAt = options.length > 0 ? at : undefined;
  // Before the next frame, so that fast typing reaches the search field.
  useLayoutEffect(() => search.current?.focus(), []);
  const type = (next: string) => {
    setQuery(next);
    setActive(0);
  };
  const press = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    const option = options[at];
    if (step) setActive(Math.max(0, Math.min(at + step, options.length - 1)));
    // Enter must not choose an option of the earlier search while the new one is loading.
    else if (event.key === 'Enter') {
      if (isFresh && option) onChoose(option);
    } else if (event.key === 'Tab') {
      anchor.current?.focus();
      onClose();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <Popup anchor={anchor} onClose={onClose} class="picker" wide>
      <Search query={query} field={search} listId={id} at={shownAt} onType={type} onKey={press} />
      <OptionList id={id} groups={groups} at={at} chosen={chosen} isMulti={isMulti} onChoose={onChoose} />
      <Note>{note}</Note>
    </Popup>
  );
}

function Note({ children }: { readonly children: string }) {
  return (
    <div class="picker-note" role="status">
      {children}
    </div>
  );
}

interface SearchProps {
  readonly field: RefObject<HTMLInputElement>;
  readonly listId: string;
  readonly at: number | undefined;
  readonly query: string;
  readonly onType: (query: string) => void;
  readonly onKey: (event: KeyboardEvent) => void;
}

function Search({ field, listId, at, query, onType, onKey }: SearchProps) {
  return (
    <input
      ref={field}
      class="picker-search"
      type="text"
      role="combobox"
      aria-label="Search the options"
      aria-expanded="true"
      aria-controls={listId}
      aria-autocomplete="list"
      aria-activedescendant={at === undefined ? undefined : `${listId}-${at}`}
      placeholder="Search"
      autocomplete="off"
      value={query}
      onInput={(event) => onType(event.currentTarget.value)}
      onKeyDown={onKey}
    />
  );
}
