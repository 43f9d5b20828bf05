import type { KnownBlock, ModalView } from '@slack/types';
import type { Costs, ServerCost } from '../../app/purchases/read-costs.ts';
import { csvLine } from '../../domain/csv.ts';
import { describeMoney } from '../../domain/money.ts';
import { plain, preformatted, section } from '../kit/blocks.ts';
import { LIMITS } from '../kit/limits.ts';
import { count, escapeText, shorten } from '../kit/text.ts';

export const CSV_TITLE = 'Costs as CSV';

/** A view holds 250,000 bytes and 100 blocks; the rest is for what stands around the rows. */
const MOST_BYTES = 220_000;
const MOST_BLOCKS = 90;
/** What a block adds around its text. */
const BLOCK_BYTES = 200;

const HEAD = csvLine(['id', 'label', 'plan', 'monthly', 'price', 'created_by', 'created_at', 'paid_until']);

/** One row for each server, to be copied: the app asks for no scope to upload files. */
export function costsCsvView(costs: Costs, currency: string): ModalView {
  const { parts, rows } = splitRows(costs.servers.map(toRow));
  const rest = costs.servers.length - rows;
  return {
    type: 'modal',
    title: plain(CSV_TITLE),
    close: plain('Close'),
    blocks: [
      section(introduction(rows, parts.length, currency)),
      ...omission(rest),
      ...parts.map(preformatted),
    ],
  };
}

function introduction(rows: number, parts: number, currency: string): string {
  const where = parts > 1 ? `all ${parts} parts below, one after the other,` : 'this';
  return `${count(rows, 'server')}. Copy ${where} into a file such as \`costs.csv\`.${currency === '' ? '' : ` Amounts are in ${escapeText(currency)}.`} Times are in UTC.`;
}

function omission(rest: number): KnownBlock[] {
  if (rest === 0) return [];
  return [
    section(
      `:warning: *${count(rest, 'more server')} ${rest === 1 ? 'doesn’t' : 'don’t'} fit here*: the last ones by label. The audit log has the orders and their prices; \`npm run -s audit -- --format csv\` exports it on the app’s machine.`,
    ),
  ];
}

/** Fills one block after the other with whole rows, as many as a view holds. */
function splitRows(rows: readonly string[]): { readonly parts: string[]; readonly rows: number } {
  const parts: string[] = [HEAD];
  let bytes = 0;
  for (const [at, row] of rows.entries()) {
    const last = parts.at(-1) ?? '';
    const fits = last.length + 1 + row.length <= LIMITS.preformatted;
    bytes += Buffer.byteLength(JSON.stringify(row)) + (fits ? 2 : BLOCK_BYTES);
    if (bytes > MOST_BYTES || (!fits && parts.length === MOST_BLOCKS)) return { parts, rows: at };
    if (fits) parts[parts.length - 1] = `${last}\n${row}`;
    else parts.push(row);
  }
  return { parts, rows: rows.length };
}

function toRow({ server: { id, label, paidUntil }, created, price }: ServerCost): string {
  return csvLine([
    id,
    oneLine(label),
    created && oneLine(created.plan),
    price && describeMoney(price.monthly),
    price ? PRICES[price.source] : 'unknown',
    created?.creatorId,
    created && utc(created.createdAt),
    paidUntil === undefined ? undefined : utc(paidUntil),
  ]);
}

const PRICES = { catalog: 'catalog_today', paid: 'paid_at_creation' } as const;

/** With the longest label and plan, a row still fits into one block, even if all of it are quotes. */
const MOST_LETTERS = 500;

/** A row stays on one line, and reads from left to right. */
function oneLine(text: string): string {
  return shorten(text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, ' ').trim(), MOST_LETTERS);
}

function utc(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}
