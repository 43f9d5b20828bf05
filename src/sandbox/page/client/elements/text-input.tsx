import { useRef } from 'preact/hooks';
import type { Json } from '../../../slack/page-api.ts';
import { objectIn } from '../json.ts';
import { plainWords } from '../text/text-view.tsx';
import { listOf } from './entered.ts';
import type { ElementProps } from './surface.ts';
import { useSpot } from './use-spot.ts';

/** Slack's default trigger for inputs with dispatch_action. */
const ON_ENTER = 'on_enter_pressed';
const TYPING_PAUSE_MS = 250;
/** The browser neither completes nor corrects what is typed. */
const PLAIN = { class: 'text-input', autocomplete: 'off', spellcheck: false } as const;

/** Text of one line or many, numbers, e-mail and web addresses. */
export function TextInputElement({ block, element, labelId, describedBy, isWrong }: ElementProps) {
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
