import type { ComponentType } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import type { Json } from '../../../slack/page-api.ts';
import { objectIn, objectsIn, textIn } from '../json.ts';
import { isFollowable } from '../text/parse.ts';
import { plainWords, Signed } from '../text/view.tsx';
import { ImageView, Menu, type MenuItem } from './popup.tsx';
import { OptionText, SelectElement } from './select.tsx';
import { type ElementProps, listOf, useSpot } from './spot.ts';

const VIEWS: Readonly<Record<string, ComponentType<ElementProps>>> = {
  button: ButtonElement,
  overflow: OverflowElement,
  radio_buttons: ChoicesElement,
  checkboxes: ChoicesElement,
  plain_text_input: TextInputElement,
  number_input: TextInputElement,
  email_text_input: TextInputElement,
  url_text_input: TextInputElement,
  datepicker: WhenElement,
  timepicker: WhenElement,
  datetimepicker: WhenElement,
  image: ImageView,
};

/** Any interactive element; one that the sandbox does not know is named. */
export function ElementView(props: ElementProps) {
  const type = String(props.element.type);
  const View = type.endsWith('_select') ? SelectElement : VIEWS[type];
  return View ? <View {...props} /> : <span class="unknown">({type} is not in the sandbox)</span>;
}

/** A button; one with an address opens it, too, and the app still gets the press. */
function ButtonElement({ block, element }: ElementProps) {
  const { act, isBusy } = useSpot(block, element);
  const style = textIn(element, 'style');
  const url = textIn(element, 'url');
  const press = () => {
    if (isBusy) return;
    if (isFollowable(url)) window.open(url, '_blank', 'noopener,noreferrer');
    void act();
  };
  return (
    <button
      type="button"
      class={`button ${style}`}
      aria-label={textIn(element, 'accessibility_label') || undefined}
      aria-busy={isBusy}
      onClick={press}
    >
      <Signed text={plainWords(objectIn(element, 'text'))} />
      {isFollowable(url) && <span aria-hidden="true"> ↗</span>}
      {isBusy && <span class="spinner" aria-hidden="true" />}
    </button>
  );
}

/** Slack's default trigger for inputs with dispatch_action. */
const ON_ENTER = 'on_enter_pressed';
const TYPING_PAUSE_MS = 250;
/** The browser neither completes nor corrects what is typed. */
const PLAIN = { class: 'text-input', autocomplete: 'off', spellcheck: false } as const;

/** Text of one line or many, numbers, e-mail and web addresses. */
function TextInputElement({ block, element, labelId, describedBy, isWrong }: ElementProps) {
  const { entered, fill, keep } = useSpot(block, element);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const shown = useRef<string>();
  const text = listOf(entered)[0] ?? '';
  const dispatches = block.dispatch_action === true;
  const triggers = dispatches ? triggersOf(element) : [];
  const send = (value: string) => {
    clearTimeout(timer.current);
    shown.current = value;
    void fill(value === '' ? null : value);
  };
  const type = (value: string) => {
    keep(value);
    clearTimeout(timer.current);
    if (triggers.includes('on_character_entered'))
      timer.current = setTimeout(() => send(value), TYPING_PAUSE_MS);
  };
  const shared = {
    id: labelId && `${labelId}-field`,
    ...PLAIN,
    value: text,
    placeholder: plainWords(objectIn(element, 'placeholder')),
    'aria-labelledby': labelId,
    'aria-describedby': describedBy,
    'aria-invalid': isWrong,
    maxLength: typeof element.max_length === 'number' ? element.max_length : 3000,
    onInput: (event: Event) => type((event.currentTarget as HTMLInputElement).value),
    // An input with dispatch_action is sent by its trigger, not when it loses the focus.
    onBlur: () => !dispatches && text !== (shown.current ?? '') && send(text),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || event.isComposing || !triggers.includes(ON_ENTER)) return;
      event.preventDefault();
      send(text);
    },
  };
  if (element.multiline === true) return <textarea rows={4} {...shared} />;
  return <input type="text" inputMode={INPUT_MODES[String(element.type)] ?? 'text'} {...shared} />;
}

function triggersOf(element: Json): readonly unknown[] {
  const triggers = objectIn(element, 'dispatch_action_config')?.trigger_actions_on ?? [ON_ENTER];
  return Array.isArray(triggers) ? triggers : [];
}

const INPUT_MODES: Readonly<Record<string, 'decimal' | 'email' | 'url'>> = {
  number_input: 'decimal',
  email_text_input: 'email',
  url_text_input: 'url',
};

/** Radio buttons and checkboxes. */
function ChoicesElement({ block, element, labelId, describedBy, isWrong }: ElementProps) {
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

const INPUTS: Readonly<Record<string, 'date' | 'time' | 'datetime-local'>> = {
  datepicker: 'date',
  timepicker: 'time',
  datetimepicker: 'datetime-local',
};

/** Dates and times, with the browser's own pickers. */
function WhenElement({ block, element, labelId, describedBy, isWrong }: ElementProps) {
  const { entered, enter } = useSpot(block, element);
  const type = INPUTS[String(element.type)] ?? 'date';
  const value = listOf(entered)[0] ?? '';
  const change = (shown: string) => {
    if (shown === '') void enter(null);
    else void enter(type === 'datetime-local' ? String(new Date(shown).getTime() / 1000) : shown);
  };
  return (
    <input
      class="text-input when"
      type={type}
      value={type === 'datetime-local' ? toLocal(value) : value}
      aria-labelledby={labelId}
      aria-label={labelId ? undefined : 'Date'}
      aria-describedby={describedBy}
      aria-invalid={isWrong}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

/** Seconds since the epoch as `2026-10-06T14:05`, in the reader's zone. */
function toLocal(seconds: string): string {
  if (seconds === '') return '';
  const at = new Date(Number(seconds) * 1000);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The three dots with up to five things to do. */
function OverflowElement({ block, element }: ElementProps) {
  const { act, isBusy } = useSpot(block, element);
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const items = objectsIn(element, 'options').map((option): MenuItem => {
    const url = textIn(option, 'url');
    const choose = () => {
      if (isFollowable(url)) window.open(url, '_blank', 'noopener,noreferrer');
      void act(textIn(option, 'value'));
    };
    return { words: plainWords(objectIn(option, 'text')), choose };
  });
  return (
    <>
      <button
        ref={button}
        type="button"
        class="button overflow"
        aria-label={textIn(element, 'accessibility_label') || 'More actions'}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-busy={isBusy}
        onClick={() => setOpen(!isOpen)}
      >
        {isBusy ? <span class="spinner" aria-hidden="true" /> : '•••'}
      </button>
      {isOpen && <Menu anchor={button} label="More actions" items={items} onClose={() => setOpen(false)} />}
    </>
  );
}
