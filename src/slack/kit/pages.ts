import type { Button } from '@slack/types';
import { z } from 'zod';
import type { SlackRequest } from '../request.ts';
import { type ActionHandler, defineButton } from './button.ts';

/** The number of a page, from 0. */
export const pageNumber = z.number().int().min(0);

/** What a button to another page carries. `filter`: what the items on all pages match. */
const turn = z.object({ page: pageNumber, filter: z.string().exactOptional() });
export type Turn = z.output<typeof turn>;

/** Picks the items of one page, or of the last one if there are fewer pages by now. */
export function pageOf<Item>(items: readonly Item[], asked: number, size: number) {
  const pages = Math.max(1, Math.ceil(items.length / size));
  const page = Math.min(asked, pages - 1);
  const from = page * size;
  return { page, pages, from, shown: items.slice(from, from + size) };
}

/** Defines the buttons that turn pages. Their IDs differ, since Slack refuses two buttons with the same ID in one row. */
export function definePages(name: string) {
  const back = defineButton(`${name}_back`, turn);
  const next = defineButton(`${name}_page`, turn);
  return {
    /** Makes the buttons for the pages before and after this one, where there are any. */
    buttons: (
      { page, pages }: { readonly page: number; readonly pages: number },
      filter?: string,
    ): Button[] => [
      ...(page > 0 ? [back.element('Previous', { page: page - 1, filter })] : []),
      ...(page < pages - 1 ? [next.element('Next', { page: page + 1, filter })] : []),
    ],
    on: (run: (to: Turn, request: SlackRequest) => Promise<void>): ActionHandler[] => [
      back.on(run),
      next.on(run),
    ],
  };
}
