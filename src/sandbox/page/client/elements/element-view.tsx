import type { ComponentType } from 'preact';
import { useRef } from 'preact/hooks';
import type { Json } from '../../../slack/page-api.ts';
import { objectIn, textIn } from '../json.ts';
import { isFollowable } from '../text/parse.ts';
import { plainWords, Signed } from '../text/view.tsx';
import { ImageView } from './popup.tsx';
import { SelectElement } from './select.tsx';
import { type ElementProps, listOf, useSpot } from './spot.ts';

/** What the app uses. Slack has more elements. */
const VIEWS: Readonly<Record<string, ComponentType<ElementProps>>> = {
  button: ButtonElement,
  plain_text_input: TextInputElement,
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

/** Text of one line or many. */
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
  return <input type="text" {...shared} />;
}

function triggersOf(element: Json): readonly unknown[] {
  const triggers = objectIn(element, 'dispatch_action_config')?.trigger_actions_on ?? [ON_ENTER];
  return Array.isArray(triggers) ? triggers : [];
}
