import type { RefObject } from 'preact';
import { useCallback, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { objectIn } from '../../../slack/json.ts';
import type { AtElement, Json } from '../../../slack/page-api.ts';
import { findOption, rememberOption, useScreen } from '../state.ts';
import { plainWords, Signed, TextView } from '../text/view.tsx';
import { knownOptions, type OptionGroup, useOffer } from './options.ts';
import { OptionRow, Popup } from './popup.tsx';
import { type ElementProps, useSpot } from './spot.ts';

/** Every menu of options: static and external, of users and of conversations. A press, arrow down or typing opens it. */
export function SelectElement({ block, element, labelId, describedBy, isWrong }: ElementProps) {
  const { spot, entered, isBusy, isInput, enter } = useSpot(block, element);
  const state = useScreen((screen) => screen.state);
  const trigger = useRef<HTMLButtonElement>(null);
  /** What was typed on the closed menu; undefined while it is closed. */
  const [typed, setTyped] = useState<string | undefined>();
  const isOpen = typed !== undefined;
  const close = useCallback(() => setTyped(undefined), []);
  const choose = (option: Json) => {
    const value = String(option.value);
    rememberOption(spot, option);
    close();
    trigger.current?.focus();
    if (!(isInput && entered === value)) void enter(value);
  };
  const openByKey = (event: KeyboardEvent) => {
    const isLetter = event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey;
    if (!isLetter && event.key !== 'ArrowDown') return;
    event.preventDefault();
    setTyped(isLetter ? event.key : '');
  };
  const words = entered === null ? '' : wordsOf(entered, spot, knownOptions(element, state));
  const placeholder = plainWords(objectIn(element, 'placeholder')) || 'Choose…';
  const valueId = labelId && `${labelId}-value`;
  return (
    <span class="select">
      <button
        ref={trigger}
        type="button"
        class={`row select-trigger ${words ? '' : 'empty'}`}
        aria-haspopup="listbox"
        aria-expanded={isOpen}
        aria-label={labelId ? undefined : [placeholder, words].filter(Boolean).join(': ')}
        aria-labelledby={labelId ? `${labelId} ${valueId}` : undefined}
        aria-describedby={describedBy}
        aria-invalid={isWrong}
        aria-busy={isBusy}
        onClick={() => setTyped(isOpen ? undefined : '')}
        onKeyDown={openByKey}
      >
        <span class="grow select-value" id={valueId}>
          {words ? <Signed text={words} /> : placeholder}
        </span>
        {isBusy ? <span class="spinner" aria-hidden="true" /> : <span class="chevron" aria-hidden="true" />}
      </button>
      {isInput && block.optional === true && entered !== null && (
        <button type="button" class="clear" aria-label="Clear" onClick={() => void enter(null)}>
          ×
        </button>
      )}
      {isOpen && (
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

function wordsOf(value: string, spot: AtElement, known: readonly Json[]): string {
  const option = findOption(spot, value) ?? known.find((each) => each.value === value);
  return option ? plainWords(objectIn(option, 'text')) : value;
}

interface PickerProps {
  readonly anchor: RefObject<HTMLButtonElement>;
  readonly element: Json;
  readonly spot: AtElement;
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
  // Before the next frame, so that fast typing reaches the search field.
  useLayoutEffect(() => search.current?.focus(), []);
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
      <input
        ref={search}
        class="picker-search"
        type="text"
        role="combobox"
        aria-label="Search the options"
        aria-expanded="true"
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={options.length > 0 ? `${id}-${at}` : undefined}
        placeholder="Search"
        autocomplete="off"
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={press}
      />
      <OptionList id={id} groups={groups} at={at} chosen={chosen} onChoose={onChoose} />
      <div class="quiet picker-note" role="status">
        {note}
      </div>
    </Popup>
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

function OptionList({ id, groups, at, chosen, onChoose }: OptionListProps) {
  const options = groups.flatMap((group) => group.options);
  const rowOf = (option: Json) => {
    const index = options.indexOf(option);
    const value = String(option.value);
    const description = objectIn(option, 'description');
    return (
      <OptionRow
        key={value}
        id={`${id}-${index}`}
        isActive={index === at}
        isChosen={chosen === value}
        mark={chosen === value ? '✓' : ''}
        onChoose={() => onChoose(option)}
      >
        <TextView of={objectIn(option, 'text')} />
        {description && (
          <span class="quiet option-description">
            <TextView of={description} />
          </span>
        )}
      </OptionRow>
    );
  };
  return (
    <div id={id} role="listbox" class="options" tabIndex={-1}>
      {groups.map(({ label, options: members }) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a listbox
        <div key={label} role="group" aria-label={label || undefined}>
          {label && <div class="quiet group-label">{label}</div>}
          {members.map(rowOf)}
        </div>
      ))}
    </div>
  );
}
