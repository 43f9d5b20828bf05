import { z } from 'zod';
import { because, report } from './fault.ts';
import { LIMITS } from './limits.ts';
import { filled, string, typed, whole } from './object.ts';
import { richText } from './rich-text.ts';
import { textLength } from './text-length.ts';

/** One empty cell makes Slack refuse the whole message (getnao/nao#1143). */
const cell = z
  .discriminatedUnion('type', [
    typed('raw_text', { text: string() }),
    typed('raw_number', { value: z.number(), text: string() }),
    richText,
  ])
  .refine((value) => textLength(value) > 0, because('empty_cell', 'a cell must not be empty'));

const row = z.array(cell).min(1).max(LIMITS.tableColumns);

/** Rows of as many cells as the header has. */
const evenRows = (min: number, max: number) =>
  z
    .array(row)
    .min(min)
    .max(max)
    .superRefine(([header = [], ...rest], context) => {
      for (const [index, cells] of rest.entries()) {
        if (cells.length === header.length) continue;
        report(context, 'uneven_rows', `must have ${header.length} cells, like the header`, index + 1);
      }
    });

const dataRows = evenRows(LIMITS.dataTableMinRows, LIMITS.dataTableRows).superRefine(
  ([header = []], context) => {
    for (const [index, { type }] of header.entries()) {
      if (type === 'rich_text')
        report(context, 'not_allowed_here', 'header cells must not be rich_text', 0, index);
    }
  },
);

/** Slack's "Data table block" page. */
export const dataTable = typed(
  'data_table',
  { rows: dataRows, caption: filled() },
  {
    block_id: filled(LIMITS.id),
    page_size: whole(1, LIMITS.dataTablePageSize),
    row_header_column_index: whole(),
  },
).superRefine(({ rows, row_header_column_index: column }, context) => {
  const columns = Array.isArray(rows) && Array.isArray(rows[0]) ? rows[0].length : 0;
  if (typeof column !== 'number' || column < columns) return;
  report(context, 'too_many', `is ${column}; there are ${columns} columns`, 'row_header_column_index');
});

/** Slack's "Table block" page. */
export const table = typed(
  'table',
  { rows: evenRows(1, LIMITS.tableRows) },
  { block_id: filled(LIMITS.id), column_settings: z.array(z.unknown()).max(LIMITS.tableColumns) },
);
