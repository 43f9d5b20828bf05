import type { Order } from '../../domain/catalog.ts';
import { findNearest } from '../../domain/nearest.ts';
import type { TypedWords } from '../kit/typed-words.ts';

/** What can be typed after `/vps create`, as `key=value`. */
export const ORDER_OPTIONS = ['plan', 'location', 'image', 'label'] as const;

const EXAMPLE = 'For example: /vps create plan=small location=fra image=debian-13 label=web-1';

/**
 * Reads `key=value` in any order, a label alone, or all four values in the order of the usage. A string says what is wrong:
 * a mistyped option must not silently become a label.
 */
export function parseOrderWords({ words, options }: TypedWords): Partial<Order> | string {
  const empty = ORDER_OPTIONS.find((name) => options[name]?.trim() === '');
  if (empty) return `“${empty}=” needs a value right after it. ${EXAMPLE}`;
  const unknown = words.find((word) => /^(?:--)?[a-z-]+=/i.test(word));
  if (unknown !== undefined) return describeUnknown(unknown);
  const [first, ...more] = words;
  if (words.length === 4 && Object.keys(options).length === 0) {
    const [location, image, label] = more;
    return { plan: first, location, image, label };
  }
  const isLabelAlone = words.length === 1 && options.label === undefined;
  if (words.length === 0 || isLabelAlone) return { label: first, ...options };
  const typed = words.join(' ');
  const label = [options.label, typed].filter((part) => part !== undefined).join(' ');
  return `I didn’t understand “${typed}”. Put quotes around a label with spaces: label="${label}". ${EXAMPLE}`;
}

function describeUnknown(word: string): string {
  const [name = '', ...value] = word.replace(/^--/, '').split('=');
  const nearest = findNearest(name, ORDER_OPTIONS);
  const hint = nearest === undefined ? EXAMPLE : `Did you mean “${nearest}=${value.join('=')}”?`;
  return `There’s no option “${name}”. ${hint}`;
}
