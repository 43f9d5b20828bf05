import type { RefObject } from 'preact';
import { useCallback, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { objectIn } from '../../../slack/json.ts';
import type { Json } from '../../../slack/page-api.ts';
import { findOption, rememberOption, type Spot, useScreen } from '../state.ts';
import { plainWords, Signed, TextView } from '../text/view.tsx';
import { knownOptions, type OptionGroup, useOffer } from './options.ts';
import { OptionRow, Popup } from './popup.tsx';
import { type ElementProps, useSpot } from './spot.ts';

/** Every menu of options: static and external, of users and of conversations. */
export function SelectElement(props: ElementProps) {
  const { block, element } = props;
  const { spot, entered, isBusy, isInput, enter } = useSpot(block, element);
  const state = useScreen((screen) => screen.state);
  const trigger = useRef<HTMLButtonElement>(null);
  /** What was typed on the closed menu; undefined while it is closed. */
  const [typed, setTyped] = useState<string | undefined>();
  const known = knownOptions(element, state);
  const close = useCallback(() => setTyped(undefined), []);
  const choose = (option: Json) => {
    const value = String(option.value);
    rememberOption(spot, option);
    close();
    trigger.current?.focus();
    if (!(isInput && entered === value)) void enter(value);
  };
  const isClearable = isInput && block.optional === true && entered !== null;
  return (
    <span class="select">
      <SelectTrigger
        {...props}
        button={trigger}
        words={entered === null ? '' : wordsOf(entered, spot, known)}
        isOpen={typed !== undefined}
        isBusy={isBusy}
        onOpen={setTyped}
        onClose={close}
      />
      {isClearable && (
        <button type="button" class="clear" aria-label="Clear" onClick={() => void enter(null)}>
          ×
        </button>
      )}
      {typed !== undefined && (
        <Picker
          anchor={trigger}
          element={element}
          spot={spot}
          chosen={entered}
          typed={typed}
          onChoose={choose}
          onClose={close}
        />
      )}
    </span>
  );
}

function wordsOf(value: string, spot: Spot, known: readonly Json[]): string {
  const option = findOption(spot, value) ?? known.find((each) => each.value === value);
  return option ? plainWords(objectIn(option, 'text')) : value;
}

interface SelectTriggerProps extends ElementProps {
  readonly button: RefObject<HTMLButtonElement>;
  /** Of what is chosen; empty for nothing. */
  readonly words: string;
  readonly isOpen: boolean;
  readonly isBusy: boolean;
  /** With what was typed, if it was opened by typing. */
  readonly onOpen: (typed: string) => void;
  readonly onClose: () => void;
}

/** The closed menu: shows what is chosen, and opens by a press, arrow down, or typing. */
function SelectTrigger(props: SelectTriggerProps) {
  const { element, labelId, describedBy, isWrong, words, isOpen, isBusy, onOpen, onClose } = props;
  const placeholder = plainWords(objectIn(element, 'placeholder')) || 'Choose…';
  const openByKey = (event: KeyboardEvent) => {
    const isLetter = event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey;
    if (!isLetter && event.key !== 'ArrowDown') return;
    event.preventDefault();
    onOpen(isLetter ? event.key : '');
  };
  const valueId = labelId && `${labelId}-value`;
  return (
    <button
      ref={props.button}
      type="button"
      class={`select-trigger ${words ? '' : 'empty'}`}
      aria-haspopup="listbox"
      aria-expanded={isOpen}
      aria-label={labelId ? undefined : [placeholder, words].filter(Boolean).join(': ')}
      aria-labelledby={labelId ? `${labelId} ${valueId}` : undefined}
      aria-describedby={describedBy}
      aria-invalid={isWrong}
      aria-busy={isBusy}
      onClick={() => (isOpen ? onClose() : onOpen(''))}
      onKeyDown={openByKey}
    >
      <span class="select-value" id={valueId}>
        {words ? <Signed text={words} /> : placeholder}
      </span>
      {isBusy ? <span class="spinner" aria-hidden="true" /> : <span class="chevron" aria-hidden="true" />}
    </button>
  );
}

interface PickerProps {
  readonly anchor: RefObject<HTMLButtonElement>;
  readonly element: Json;
  readonly spot: Spot;
  readonly chosen: string | null;
  /** What was typed on the closed menu. */
  readonly typed: string;
  readonly onChoose: (option: Json) => void;
  readonly onClose: () => void;
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };

/** The open menu: a search field, and the options that fit below it. */
function Picker({ anchor, element, spot, chosen, typed, onChoose, onClose }: PickerProps) {
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
      <OptionList id={id} groups={groups} at={at} chosen={chosen} onChoose={onChoose} />
      <div class="picker-note" role="status">
        {note}
      </div>
    </Popup>
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

interface OptionListProps {
  readonly id: string;
  readonly groups: readonly OptionGroup[];
  /** The index of the option that Enter takes, counted through all groups. */
  readonly at: number;
  readonly chosen: string | null;
  readonly onChoose: (option: Json) => void;
}

/** The options of an open menu, in their groups. */
function OptionList({ id, groups, at, chosen, onChoose }: OptionListProps) {
  const options = groups.flatMap((group) => group.options);
  const rowOf = (option: Json) => {
    const index = options.indexOf(option);
    const value = String(option.value);
    const isChosen = chosen === value;
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
    <div id={id} role="listbox" class="options" tabIndex={-1}>
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
function OptionText({ option }: { readonly option: Json }) {
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
