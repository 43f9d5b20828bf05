import type { Button } from '@slack/types';
import type { ButtonKind } from './button.ts';

/** The buttons that turn the pages of a long message: back and further, where there is such a page. */
export function pageButtons<Value>(
  kinds: { readonly back: ButtonKind<Value>; readonly further: ButtonKind<Value> },
  page: number,
  pages: number,
  valueAt: (page: number) => Value,
): Button[] {
  return [
    ...(page > 0 ? [kinds.back.element('Back', valueAt(page - 1))] : []),
    ...(page < pages - 1 ? [kinds.further.element('Further', valueAt(page + 1))] : []),
  ];
}
