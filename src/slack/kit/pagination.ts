import type { Button } from '@slack/types';
import type { ButtonKind } from './button.ts';

/** The buttons for the previous and the next page of a long message, where there is one. */
export function pageButtons<Value>(
  kinds: { readonly back: ButtonKind<Value>; readonly further: ButtonKind<Value> },
  page: number,
  pages: number,
  valueAt: (page: number) => Value,
): Button[] {
  return [
    ...(page > 0 ? [kinds.back.element('Back', valueAt(page - 1))] : []),
    ...(page < pages - 1 ? [kinds.further.element('Next', valueAt(page + 1))] : []),
  ];
}
