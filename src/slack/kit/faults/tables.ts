import { LIMITS } from '../limits.ts';
import {
  all,
  anything,
  byType,
  type Check,
  choice,
  isFields,
  list,
  listIn,
  number,
  shape,
  string,
  whole,
} from './check.ts';
import { RICH_TEXT } from './rich-text.ts';
import { measureText } from './text-of.ts';

const CELLS: Readonly<Record<string, Check>> = {
  raw_text: shape({ type: string({}), text: string({}) }, 'text'),
  raw_number: shape({ type: string({}), value: number, text: string({}) }, 'value', 'text'),
  rich_text: RICH_TEXT,
};

/** One empty cell makes Slack refuse the whole message (getnao/nao#1143). */
const filledCell: Check = all(byType(CELLS, 'table cell'), (cell, path, report) => {
  if (measureText(cell) === 0) report(path, 'empty_cell', 'a cell must not be empty');
});

const row = list(filledCell, { min: 1, max: LIMITS.tableColumns });

const evenRows: Check = (block, path, report) => {
  const [header, ...rest] = listIn(block, 'rows');
  const columns = Array.isArray(header) ? header.length : 0;
  rest.forEach((cells, index) => {
    if (Array.isArray(cells) && cells.length === columns) return;
    report(`${path}/rows/${index + 1}`, 'uneven_rows', `must have ${columns} cells, like the header`);
  });
};

const plainHeader: Check = (block, path, report) => {
  const header = listIn(block, 'rows')[0];
  if (!Array.isArray(header)) return;
  header.forEach((cell, index) => {
    if (isFields(cell) && cell.type === 'rich_text')
      report(`${path}/rows/0/${index}`, 'not_allowed_here', 'header cells must not be rich_text');
  });
  const column = isFields(block) ? block.row_header_column_index : undefined;
  if (typeof column === 'number' && column >= header.length)
    report(`${path}/row_header_column_index`, 'too_many', `is ${column}; there are ${header.length} columns`);
};

/** Slack's "Data table block" page. */
export const DATA_TABLE: Check = all(
  shape(
    {
      type: choice('data_table'),
      block_id: string({ max: LIMITS.id }),
      rows: list(row, { min: LIMITS.dataTableMinRows, max: LIMITS.dataTableRows }),
      caption: string({ min: 1 }),
      page_size: whole({ min: 1, max: LIMITS.dataTablePageSize }),
      row_header_column_index: whole({}),
    },
    'rows',
    'caption',
  ),
  evenRows,
  plainHeader,
);

/** Slack's "Table block" page. */
export const TABLE: Check = all(
  shape(
    {
      type: choice('table'),
      block_id: string({ max: LIMITS.id }),
      rows: list(row, { min: 1, max: LIMITS.tableRows }),
      column_settings: list(anything, { max: LIMITS.tableColumns }),
    },
    'rows',
  ),
  evenRows,
);
