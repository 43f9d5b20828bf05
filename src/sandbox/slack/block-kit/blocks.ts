import { z } from 'zod';
import {
  anyText,
  type Fields,
  filled,
  inputElement,
  interactive,
  last,
  plainText,
  string,
  textLength,
  typed,
  whole,
  withOneOf,
} from './elements.ts';
import { because, report } from './fault.ts';
import { LIMITS } from './limits.ts';

/** Preformatted text alone. */
const richText = typed(
  'rich_text',
  {
    elements: z
      .array(
        typed('rich_text_preformatted', {
          elements: z.array(typed('text', { text: filled(LIMITS.preformatted) })).min(1),
        }),
      )
      .min(1),
  },
  { block_id: filled(LIMITS.id) },
);

/** One empty cell makes Slack refuse the whole message (getnao/nao#1143). */
const cell = z
  .discriminatedUnion('type', [typed('raw_text', { text: string() })])
  .refine((value) => textLength(value) > 0, because('empty_cell', 'a cell must not be empty'));

const row = z.array(cell).min(1).max(LIMITS.tableColumns);

/** Rows of as many cells as the header has. */
const dataRows = z
  .array(row)
  .min(LIMITS.dataTableMinRows)
  .max(LIMITS.dataTableRows)
  .superRefine(([header = [], ...rest], context) => {
    for (const [index, cells] of rest.entries()) {
      if (cells.length === header.length) continue;
      report(context, 'uneven_rows', `must have ${header.length} cells, like the header`, index + 1);
    }
  });

/** Slack's "Data table block" page. */
const dataTable = typed(
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

const label = filled(LIMITS.chartLabel);
const title = filled(LIMITS.chartTitle);

const point = z.strictObject({ label, value: z.number() });

const series = z.strictObject({ name: label, data: z.array(point).min(1).max(LIMITS.chartPoints) });

const axes = z.strictObject({
  categories: z.array(label).min(1).max(LIMITS.chartPoints),
  y_label: title.optional(),
});

/** Bars of one series, which has one point for each category. */
const bar = z
  .strictObject({ type: z.literal('bar'), series: z.array(series).min(1).max(1), axis_config: axes })
  .refine(({ axis_config: { categories } }) => new Set(categories).size === categories.length, {
    ...because('duplicate_id', 'a category appears twice', 'axis_config', 'categories'),
    ...last,
  })
  .refine((chart) => chart.series.every(({ data }) => isOver(data, chart.axis_config.categories)), {
    ...because('not_an_option', 'the labels of the data are not the categories', 'series'),
    ...last,
  });

function isOver(data: readonly { readonly label: string }[], categories: readonly string[]): boolean {
  const labels = new Set(data.map((each) => each.label));
  return data.length === categories.length && categories.every((category) => labels.has(category));
}

/** Slack's "Data visualization block" page. */
const dataVisualization = typed(
  'data_visualization',
  { title, chart: z.discriminatedUnion('type', [bar]) },
  { block_id: filled(LIMITS.id) },
);

function block(type: string, required: Fields, optional: Fields = {}) {
  return typed(type, required, { block_id: filled(LIMITS.id), ...optional });
}

const section = withOneOf(
  block(
    'section',
    {},
    {
      text: anyText(LIMITS.text),
      fields: z.array(anyText(LIMITS.sectionField)).min(1).max(LIMITS.sectionFields),
      accessory: interactive,
      expand: z.boolean(),
    },
  ),
  'text',
  'fields',
);

const input = block(
  'input',
  { label: plainText(LIMITS.inputLabel), element: inputElement },
  { hint: plainText(LIMITS.inputHint), optional: z.boolean() },
);

/** Any block, whatever the surface; Slack has more, which the app doesn't send. */
export const anyBlock = z.discriminatedUnion('type', [
  block('actions', { elements: z.array(interactive).min(1).max(LIMITS.actionsElements) }),
  block('context', { elements: z.array(anyText()).min(1).max(LIMITS.contextElements) }),
  dataTable,
  dataVisualization,
  block('divider', {}),
  block('header', { text: plainText(LIMITS.header) }),
  input,
  richText,
  section,
]);
