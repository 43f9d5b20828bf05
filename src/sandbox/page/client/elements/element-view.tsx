import { useRef } from 'preact/hooks';
import { objectIn, textIn } from '../../../slack/json.ts';
import { isFollowable } from '../text/parse.ts';
import { plainWords, Signed } from '../text/view.tsx';
import { SelectElement } from './select.tsx';
import { type ElementProps, useSpot } from './spot.ts';

/** Any interactive element that the app uses; one of the others that Slack has is named. */
export function ElementView(props: ElementProps) {
  const type = String(props.element.type);
  if (type === 'button') return <ButtonElement {...props} />;
  if (type === 'plain_text_input') return <TextInputElement {...props} />;
  if (type.endsWith('_select')) return <SelectElement {...props} />;
  return <span class="quiet unknown">({type} is not in the sandbox)</span>;
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

/** Text of one line or many; it is sent when the field loses the focus. */
function TextInputElement({ block, element, labelId, describedBy, isWrong }: ElementProps) {
  const { entered, fill, keep } = useSpot(block, element);
  const sent = useRef('');
  const text = entered ?? '';
  const send = () => {
    if (text === sent.current) return;
    sent.current = text;
    void fill(text === '' ? null : text);
  };
  const shared = {
    id: labelId && `${labelId}-field`,
    class: 'text-input',
    // The browser neither completes nor corrects what is typed.
    autocomplete: 'off',
    spellcheck: false,
    value: text,
    placeholder: plainWords(objectIn(element, 'placeholder')),
    'aria-labelledby': labelId,
    'aria-describedby': describedBy,
    'aria-invalid': isWrong,
    maxLength: typeof element.max_length === 'number' ? element.max_length : 3000,
    onInput: (event: Event) => keep((event.currentTarget as HTMLInputElement).value),
    onBlur: send,
  };
  if (element.multiline === true) return <textarea rows={4} {...shared} />;
  return <input type="text" {...shared} />;
}
