import type { ComponentType } from 'preact';
import { ButtonElement } from './button.tsx';
import { ChoicesElement } from './choices.tsx';
import { ImageView } from './image.tsx';
import { OverflowElement } from './overflow.tsx';
import { SelectElement } from './select.tsx';
import type { ElementProps } from './surface.ts';
import { TextInputElement } from './text-input.tsx';
import { WhenElement } from './when.tsx';

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
