import { textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';

const DEFAULT_LIMIT = 100;
const MOST = 1000;
/** Slack may give fewer than were asked for before the end of the list: here it always does. */
const MOST_AT_ONCE = 2;

/**
 * One page of a list, with the cursor of the next; it is empty behind the last one (Slack's "Pagination" page).
 * @throws WebApiError invalid_limit, invalid_cursor
 */
export function pageOf<Item>(
  items: readonly Item[],
  args: Json,
): { readonly page: readonly Item[]; readonly response_metadata: Json } {
  const limit = args.limit === undefined ? DEFAULT_LIMIT : Number(args.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST) throw new WebApiError('invalid_limit');
  const start = readCursor(textIn(args, 'cursor'));
  const end = start + Math.min(limit, MOST_AT_ONCE);
  const next = end < items.length ? Buffer.from(`from:${end}`).toString('base64') : '';
  return { page: items.slice(start, end), response_metadata: { next_cursor: next } };
}

function readCursor(cursor: string): number {
  if (cursor === '') return 0;
  const start = /^from:(\d{1,9})$/.exec(Buffer.from(cursor, 'base64').toString())?.[1];
  if (start === undefined) throw new WebApiError('invalid_cursor');
  return Number(start);
}
